// Runs git: the machine's, in a clean environment, with a deadline, and in a process group that ends as a whole.
import { existsSync } from "node:fs";
import { Refusal } from "../lib/errors.ts";
import { redactor } from "../lib/redaction.ts";
import { MAX_MESSAGE_BYTES } from "./bounds.ts";
import { SourceRefusal, shown } from "./faults.ts";
import { limitPrefix } from "./git-limits.ts";

/** How git is run. */
export interface GitProgram {
  /** The path of git. */
  path: string;
  /** A command that git is run behind, such as a sandbox. */
  prefix?: readonly string[];
  /** The path of ssh; the machine's when left out. */
  ssh?: string;
}

const PLACES = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"];

/**
 * Older versions look up the machine of a repository themselves, though another address was checked, and do not sync all
 * that they write: `http.curloptResolve` came with 2.37, `core.fsync` with 2.36 (release notes of git).
 */
const OLDEST = { major: 2, minor: 37 };

/**
 * The git of the machine.
 * @throws Refusal with the command that installs it, or when it is too old.
 */
export function findGit(places: readonly string[] = PLACES, onPath = Bun.which("git")): GitProgram {
  const path = places.find((place) => existsSync(place)) ?? onPath;
  if (path === null) {
    throw new Refusal(
      "Applications need git, and this machine has none. `apt-get install git` installs it on Debian and Ubuntu; the package is called git elsewhere too.",
    );
  }
  const version = versionOf(path);
  if (isTooOld(version)) {
    throw new Refusal(
      `Applications need git ${OLDEST.major}.${OLDEST.minor} or newer, and ${path} is ${version}. Install a newer one.`,
    );
  }
  return { path };
}

/** What a git says of itself, as "2.39.5"; empty when it says nothing. */
function versionOf(path: string): string {
  const { stdout } = Bun.spawnSync([path, "--version"], {
    env: ENVIRONMENT,
    stdin: "ignore",
    stderr: "ignore",
  });
  return /^git version (\d+\.\d+(?:\.\d+)?)/.exec(stdout.toString())?.[1] ?? "";
}

/** A git with another text for its version was built by its user, and is taken as it is. */
function isTooOld(version: string): boolean {
  if (version === "") return false;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
}

/** No file of the machine or of a user has a say, nobody is asked, and no other program is started. */
const ENVIRONMENT: Record<string, string> = {
  PATH: "/usr/bin:/bin",
  LC_ALL: "C",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  GIT_NO_REPLACE_OBJECTS: "1",
  // Nothing is fetched behind our back, such as missing objects of a partial clone.
  GIT_ALLOW_PROTOCOL: "",
};

/** Settings of every git process; they come before those of the repository. */
const SETTINGS: Record<string, string> = {
  // A hook of a customer would run as the control plane.
  "core.hooksPath": "/dev/null",
  // A commit that the store names is on the disk: by itself git leaves single objects and branches to a power cut.
  "core.fsync": "all",
  // One pack is one sync, where single objects would be up to a hundred.
  "fastimport.unpackLimit": "1",
  "core.fsmonitor": "false",
  "core.bigFileThreshold": "4m",
  "core.quotePath": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "safe.directory": "*",
  "protocol.version": "2",
  "transfer.fsckObjects": "true",
  // Such faults are in many honest repositories of old.
  ...fsckLevels("zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "badDateOverflow"),
};

function fsckLevels(...names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`fetch.fsck.${name}`, "ignore"],
      [`receive.fsck.${name}`, "ignore"],
    ]),
  );
}

export interface GitOptions {
  /** The bare repository. */
  repository: string;
  /** Settings for this process alone. */
  settings?: Record<string, string>;
  /** Variables beside the clean environment. */
  env?: Record<string, string>;
  deadlineMs: number;
  /** Texts that are cut out of its messages, which may be those of a server. */
  secrets?: readonly string[];
  /** The largest file that it may write, in bytes. */
  maxFileBytes?: number;
  /** An open file that it inherits, for the lock on it. */
  lock?: number;
  signal?: AbortSignal;
}

/** A running git. */
export class GitProcess {
  readonly child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  /** The end of its messages. */
  readonly messages: Promise<string>;
  #isLate = false;
  #isAborted = false;
  readonly #timer: Timer;
  readonly #options: GitOptions;

  constructor(git: GitProgram, args: readonly string[], options: GitOptions) {
    this.#options = options;
    const { deadlineMs, signal, secrets = [] } = options;
    this.child = Bun.spawn([...limitPrefix(options), ...(git.prefix ?? []), git.path, ...args], {
      cwd: options.repository,
      env: environmentOf(options),
      stdio: ["pipe", "pipe", "pipe", ...(options.lock === undefined ? [] : [options.lock])],
      // Git starts programs of its own, which are to end with it.
      detached: true,
    });
    this.messages = endOfText(this.child.stderr).then(redactor(secrets));
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.kill();
    }, deadlineMs);
    this.#timer.unref();
    signal?.addEventListener("abort", this.#abort);
    if (signal?.aborted === true) this.#abort();
    void this.#forgetAtEnd();
  }

  async #forgetAtEnd(): Promise<void> {
    await this.child.exited;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = () => {
    this.#isAborted = true;
    this.kill();
  };

  /** Ends it and all that it started. */
  kill(): void {
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // It may have ended by itself.
    }
  }

  /**
   * Resolves when it has ended without a fault.
   * @param what it did, as the beginning of a sentence: "The repository could not be fetched".
   * @param explain gives the reason that messages stand for, or null for git's own last words.
   * @throws SourceRefusal with the reason.
   */
  async succeeded(what: string, explain: (messages: string) => string | null = () => null): Promise<void> {
    const [code, messages] = await Promise.all([this.child.exited, this.messages]);
    if (code === 0) return;
    throw new SourceRefusal(
      `${what}: ${this.#reason(messages, explain)}`,
      new Error(`git ended with ${code}: ${messages}`),
    );
  }

  #reason(messages: string, explain: (messages: string) => string | null): string {
    if (this.#isLate) return `it took longer than ${Math.round(this.#options.deadlineMs / 1_000)} s.`;
    if (this.#isAborted) return "it was cancelled.";
    if (this.child.signalCode === "SIGXFSZ") return "it is too large.";
    return explain(messages) ?? lastWords(messages);
  }
}

/** The programs before git that bound it, where the machine has them. */
interface OutputOptions {
  /** What git does, as the beginning of a sentence. */
  what: string;
  maxBytes?: number;
  /** The most records of an output whose records end with a zero byte. */
  maxRecords?: number;
  input?: string;
}

/** Runs git and collects its output. @throws SourceRefusal when it fails or writes more than `maxBytes`. */
export async function gitOutput(
  git: GitProgram,
  args: readonly string[],
  options: GitOptions & OutputOptions,
): Promise<Buffer> {
  const run = new GitProcess(git, args, options);
  if (options.input !== undefined) void run.child.stdin.write(options.input);
  void run.child.stdin.end();
  const output = await outputOf(run, options);
  await run.succeeded(options.what);
  return output;
}

/** What a process writes. @throws SourceRefusal when that is more than `maxBytes`. */
export async function outputOf(
  run: GitProcess,
  { what, maxBytes = MAX_MESSAGE_BYTES, maxRecords = Infinity }: OutputOptions,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let [length, records] = [0, 0];
  for await (const part of run.child.stdout) {
    length += part.length;
    if (length > maxBytes) {
      run.kill();
      throw new SourceRefusal(`${what}: there is more of it than Pilvi reads.`);
    }
    if (maxRecords < Infinity) records += part.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);
    if (records > maxRecords) {
      run.kill();
      throw new SourceRefusal(`${what}: there are more than ${maxRecords} of them.`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function environmentOf({ repository, settings = {}, env = {} }: GitOptions): Record<string, string> {
  const all = Object.entries({ ...SETTINGS, ...settings });
  const variables = all.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return {
    ...ENVIRONMENT,
    GIT_DIR: repository,
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(variables),
    ...env,
  };
}

/** Reads all, so that the writer never waits, and keeps the end. */
async function endOfText(stream: ReadableStream<Uint8Array>): Promise<string> {
  let kept = Buffer.alloc(0);
  for await (const part of stream) {
    kept = Buffer.concat([kept, part]).subarray(-MAX_MESSAGE_BYTES);
  }
  return kept.toString("utf8");
}

/** The last line that says what is wrong, without git's word for its weight. */
function lastWords(messages: string): string {
  const lines = messages
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^remote:\s*/, "").trim())
    .filter((line) => line !== "");
  const line = lines.findLast((each) => /^(?:fatal|error):/.test(each)) ?? lines.at(-1) ?? "it failed.";
  const text = shown(withoutCredentials(line.replace(/^(?:fatal|error):\s*/, "")).slice(0, 300));
  return text.endsWith(".") ? text : `${text}.`;
}

/** An address within a message, without the name and password in it. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/(:\/\/)[^\s/@]*@/g, "$1");
}

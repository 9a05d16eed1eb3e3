// Fetches a branch of a foreign repository with git's own client, and asks for its branches.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { machineOf, repositoryAddress, type RepositoryAddress } from "./address.ts";
import type { SourceLimits } from "./bounds.ts";
import { type GitOptions, GitProcess, type GitProgram, outputOf } from "./git.ts";
import { isRef } from "./names.ts";
import { httpReason, httpSettings, type Login, secretsOf } from "./http.ts";
import { sshReason, sshVariables } from "./ssh.ts";

/** Where a branch is fetched from. */
export interface FetchSource {
  url: string;
  branch: string;
  /** A private key in OpenSSH's form, for ssh. */
  deployKey: string | null;
  /** The login of an http or https server. */
  login?: Login | null;
  /** Whether the address may lead to the machine of Pilvi itself. */
  mayReachItself?: boolean;
  deadlineMs?: number;
}

const DEADLINE_MS = 5 * 60_000;
const WHAT = "The repository could not be fetched";

/** The beginning of the names of folders with a key or a login. */
const KEYS = "keys-";

/** @throws SourceRefusal when the address is refused, the deadline passes, or git fails. */
export async function fetchBranch(
  git: GitProgram,
  source: FetchSource & { depth: number },
  ref: string,
  limits: SourceLimits,
  options: GitOptions,
): Promise<void> {
  const words = [
    "fetch",
    "--quiet",
    `--depth=${source.depth}`,
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
    "--force",
    "--end-of-options",
  ];
  const asked = { words, refs: [`+refs/heads/${source.branch}:${ref}`] };
  await askServer(git, source, asked, limits, options);
}

/** What a server says of its branches. */
export interface RemoteBranches {
  /** The branch that it shows first; null where it names none, such as in an empty repository. */
  defaultBranch: string | null;
  /** Whether the source's branch is there. */
  hasBranch: boolean;
}

/** @throws SourceRefusal as `fetchBranch` does. */
export async function remoteBranches(
  git: GitProgram,
  source: FetchSource,
  limits: SourceLimits,
  options: GitOptions,
): Promise<RemoteBranches> {
  const ref = `refs/heads/${source.branch}`;
  const asked = { words: ["ls-remote", "--quiet", "--symref", "--end-of-options"], refs: ["HEAD", ref] };
  const lines = (await askServer(git, source, asked, limits, options)).split("\n");
  const [, name] = lines.map((line) => /^ref: refs\/heads\/(\S+)\tHEAD$/.exec(line)).find(Boolean) ?? [];
  return {
    defaultBranch: name !== undefined && isRef(`refs/heads/${name}`) ? name : null,
    hasBranch: lines.some((line) => line.endsWith(`\t${ref}`)),
  };
}

/**
 * Runs git with a question for the server of a source.
 * @param asked the words of git before the address, and the refs after it.
 * @returns what git has written.
 */
async function askServer(
  git: GitProgram,
  source: FetchSource,
  { words, refs }: { words: string[]; refs: string[] },
  limits: SourceLimits,
  options: GitOptions,
): Promise<string> {
  const address = repositoryAddress(source.url);
  const machine = await machineOf(address, source.mayReachItself ?? false);
  await removeKeys(options.repository);
  const keys = await mkdtemp(join(options.repository, KEYS));
  const login = source.login ?? null;
  try {
    const run = new GitProcess(git, [...words, urlOf(address, machine), ...refs], {
      ...options,
      deadlineMs: source.deadlineMs ?? DEADLINE_MS,
      maxFileBytes: limits.transferBytes,
      // A single pack is a single file, which has a bound.
      settings: {
        ...(await httpSettings({ address, machine, login, keys })),
        "fetch.unpackLimit": "1",
      },
      secrets: secretsOf(login),
      env: {
        GIT_ALLOW_PROTOCOL: address.protocol,
        ...(address.protocol === "ssh" &&
          (await sshVariables({
            address,
            machine,
            keys,
            deployKey: source.deployKey,
            repository: options.repository,
            program: git.ssh,
          }))),
      },
    });
    void run.child.stdin.end();
    const explain = (messages: string) =>
      address.protocol === "ssh" ? sshReason(messages, address) : httpReason(messages, address, login);
    const [output] = await Promise.all([outputOf(run, { what: WHAT }), run.succeeded(WHAT, explain)]);
    return output.toString();
  } finally {
    await rm(keys, { recursive: true, force: true });
  }
}

/** A process that was killed while it fetched leaves its key or login. Only one fetch of a repository runs at a time. */
async function removeKeys(repository: string): Promise<void> {
  const names = (await readdir(repository)).filter((name) => name.startsWith(KEYS));
  for (const name of names) await rm(join(repository, name), { recursive: true, force: true });
}

/**
 * Git's own protocol has neither certificates nor keys, so the machine may stand in the place of its name. An address
 * without a name is written anew as well: git reads such an address in its own way.
 */
function urlOf({ url, protocol }: RepositoryAddress, machine: string): string {
  if (protocol !== "git") return url;
  const parsed = new URL(url);
  return `git://${machine.includes(":") ? `[${machine}]` : machine}${parsed.port === "" ? "" : `:${parsed.port}`}${parsed.pathname}`;
}

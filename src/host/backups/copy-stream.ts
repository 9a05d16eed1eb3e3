// The stream of a backup: the output of programs that copy an instance's data, one after the other.
import type { BackupFacts } from "../../contracts/keeper.ts";
import type { ColdCopy, CopyCommand, CopyFacts, EngineBackup, HotFacts } from "../../engines/backup.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { complaintOf, runInBackground } from "./background-program.ts";
import type { StoppedData } from "./copy-folder.ts";

/** What a copy is made of, and with. */
interface CopyParts {
  id: string;
  runnable: Runnable;
  cgroups: CgroupBackend | null;
  /** Ends the programs. */
  signal: AbortSignal;
}

/** The names of what is in the data. */
export type Contents = Pick<BackupFacts, "users" | "databases">;

/** A copy that is under way. */
export interface RunningCopy {
  format: BackupFacts["format"];
  /** The stopped data that the stream is made of, which a clone may copy in its place; null for a running engine. */
  folder: StoppedData | null;
  /** Is to be read once; it throws when the copy cannot be made. */
  stream: AsyncIterable<Uint8Array>;
  /** The facts, once the stream has ended or the folder is copied. @throws Error before the end of a running engine's. */
  facts(): CopyFacts & Contents;
  /** Ends the programs and the session, and resolves when they have ended. Never throws. */
  close(): Promise<void>;
}

/** Begins the copy of a running engine. @throws PublicError when the engine cannot be copied now. */
export async function hotCopy(parts: CopyParts, recipe: EngineBackup, backup: string): Promise<RunningCopy> {
  const copy = await recipe.begin(parts.runnable.context, backup, parts.signal);
  const programs = new CopyPrograms(parts, () => copy.explain?.() ?? null);
  let facts: HotFacts | undefined;
  async function* stream() {
    await failpoint("host.backup.begun");
    yield* programs.outputOf(copy.copy);
    await failpoint("host.backup.copied");
    const end = await copy.end();
    await failpoint("host.backup.ended");
    for (const command of end.rest) yield* programs.outputOf(command);
    ({ facts } = end);
  }
  const close = async () => {
    await programs.end();
    await copy.close();
  };
  return { format: copy.format, folder: null, stream: stream(), facts: () => known(facts), close };
}

/** Begins the copy of stopped data. @throws PublicError when the data must be copied from the running engine. */
export async function coldCopy(
  parts: CopyParts,
  recipe: EngineBackup,
  contents: Contents,
): Promise<RunningCopy> {
  const { copies, facts, ...leftOut }: ColdCopy = await recipe.cold(parts.runnable.context);
  const programs = new CopyPrograms(parts);
  async function* stream() {
    await failpoint("host.backup.begun");
    for (const command of copies) yield* programs.outputOf(command);
    await failpoint("host.backup.copied");
  }
  const whole = { ...facts, ...contents };
  return {
    format: facts.format,
    folder: { path: parts.runnable.context.paths.dataDir, ...leftOut },
    stream: stream(),
    facts: () => whole,
    close: () => programs.end(),
  };
}

function known<T>(facts: T | undefined): T {
  if (facts === undefined) throw new Error("the copy has not ended");
  return facts;
}

/** The programs of one copy, of which one runs at a time. */
class CopyPrograms {
  readonly #parts: CopyParts;
  readonly #explain: () => string | null;
  readonly #ending = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  /** @param explain why a program failed, as a sentence; null when that is not known. */
  constructor(parts: CopyParts, explain: () => string | null = () => null) {
    this.#parts = parts;
    this.#explain = explain;
  }

  /** Kills the program that runs, and lets no other begin. */
  async end(): Promise<void> {
    this.#ending.abort(new Error("the copy was ended"));
    await this.#ended;
  }

  /** @throws PublicError when the program fails. */
  async *outputOf({ argv, okExitCodes, env = {}, holdsLocks }: CopyCommand): AsyncGenerator<Uint8Array> {
    const { id, runnable, cgroups, signal } = this.#parts;
    const { context } = runnable;
    const ends = AbortSignal.any([signal, this.#ending.signal]);
    ends.throwIfAborted();
    const options = {
      cwd: context.paths.dataDir,
      env,
      isBehind: holdsLocks !== true,
      stdin: "ignore",
      stdout: "pipe",
    } as const;
    const program = runInBackground({ id, context, cgroups }, argv, options);
    const complaint = complaintOf(program.stderr);
    const kill = () => program.kill("SIGKILL");
    ends.addEventListener("abort", kill);
    this.#ended = program.exited;
    try {
      for await (const chunk of program.stdout ?? []) yield chunk;
      const code = await program.exited;
      ends.throwIfAborted();
      if (code === null || !okExitCodes.includes(code))
        throw new PublicError(
          this.#explain() ?? "The data could not be copied.",
          new Error(`${argv[0]}: ${await complaint}`),
        );
    } finally {
      ends.removeEventListener("abort", kill);
      kill();
      await program.exited;
    }
  }
}

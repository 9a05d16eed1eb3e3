// Brings unpacked data to the state that an engine can start with, and onto the disk; or reads all of it.
import type { BackupFacts, RestorePlan } from "../../contracts/keeper.ts";
import type { EngineReplica, RestoreContext, StartProgram, Verification } from "../../engines/backup.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { complaintOf, runInBackground, type BackgroundProgram } from "./background-program.ts";
import { foldersOf, type DataBuild } from "./unpack.ts";

/** What the unpacked data is, and what it is to become. */
export interface Recovery {
  facts: BackupFacts;
  recovery: RestorePlan["recovery"];
  /** See `RestoreContext.isLocalCopy`. */
  isLocalCopy?: boolean;
  /** Made a replica, which goes on from there by itself; left out for data that is brought to a state. */
  replica?: EngineReplica;
  /** Gets the part that is done, from 0 to 1. */
  onShare(share: number): void;
}

/** @throws RestoreFault when the data cannot be brought there, PublicError when it may work another time. */
export async function recoverData(build: DataBuild, recovery: Recovery): Promise<void> {
  await withPrograms(build, recovery, async (context) => {
    if (recovery.replica === undefined) await build.recipe.recover(context);
    else recovery.replica.seed(context);
    await failpoint("host.restore.recovered");
  });
  if (!build.isThrowAway) await syncData(build);
}

/** Reads all data of a recovered throw-away copy. @throws PublicError when it cannot be read now. */
export async function verifyData(
  build: DataBuild,
  recovery: Omit<Recovery, "onShare">,
  timeoutMs: number,
): Promise<Verification> {
  return await withPrograms(build, { ...recovery, onShare: ignore }, (context) =>
    build.recipe.verify(context, timeoutMs),
  );
}

const ignore = () => undefined;

/** Does the work of a recipe, and ends all programs that it has started. */
async function withPrograms<T>(
  build: DataBuild,
  { facts, recovery, isLocalCopy = false, onShare }: Recovery,
  work: (context: RestoreContext) => Promise<T>,
): Promise<T> {
  const { context, signal, isThrowAway: isBehind } = build;
  const { dataDir, workDir } = foldersOf(build);
  const running = new Set<BackgroundProgram>();
  const start: StartProgram = (argv, env = {}) => {
    const options = { cwd: dataDir, env, isBehind, stdin: "ignore", stdout: "ignore" } as const;
    const program = runInBackground(build, argv, options);
    running.add(program);
    void program.exited.then(() => running.delete(program));
    return program;
  };
  const killAll = () => {
    for (const program of running) program.kill("SIGKILL");
  };
  const { installed, account, limits } = context;
  const restore: RestoreContext = {
    installed,
    account,
    limits,
    dataDir,
    workDir,
    facts,
    recovery,
    ...(isLocalCopy && { isLocalCopy: true as const }),
    start,
    signal,
    progress: onShare,
  };
  signal.addEventListener("abort", killAll);
  try {
    signal.throwIfAborted();
    return await work(restore);
  } finally {
    signal.removeEventListener("abort", killAll);
    killAll();
    await Promise.all([...running].map(({ exited }) => exited));
  }
}

/** Data that is moved into its place must not be lost in a power cut after that. */
async function syncData(build: DataBuild): Promise<void> {
  const { dataDir } = foldersOf(build);
  const argv = ["/usr/bin/sync", "--file-system", "--", dataDir];
  const options = { cwd: dataDir, isBehind: false, stdin: "ignore", stdout: "ignore" } as const;
  const program = runInBackground(build, argv, options);
  const complaint = await complaintOf(program.stderr);
  if ((await program.exited) !== 0)
    throw new PublicError("The restored data could not be written to the disk.", new Error(complaint));
}

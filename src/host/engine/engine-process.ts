// One running engine: it was started with the instance's lock, or a later host found it holding that lock.
import { closeSync, rmSync } from "node:fs";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Account, Engine, EngineContext } from "../../engines/engine.ts";
import { engineFor } from "../../engines/index.ts";
import { commandOf } from "../../engines/installed.ts";
import { GO } from "../../engines/sandbox/gate.ts";
import { codeOf, PublicError } from "../../lib/errors.ts";
import { CUSTOMER_OOM_SCORE, setOomScore } from "../../lib/oom-score.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { openLog } from "../os/engine-log.ts";
import { exitOf } from "../os/exit-watch.ts";
import type { InstanceFolder } from "../os/layout.ts";
import {
  engineAmong,
  holdersOf,
  holdsLock,
  isLocked,
  killHolders,
  processGroupOf,
  takeLock,
} from "../os/locks.ts";
import { lowPortPrefix } from "../os/low-port.ts";
import { childrenOf } from "../os/proc-files.ts";
import { processLimitPrefix } from "../os/process-limit.ts";
import { freeSharedMemory } from "../os/shared-memory.ts";
import { hasServed } from "../os/served-process.ts";
import { signalProcess } from "../os/signals.ts";
import { latestStart } from "./log-follower.ts";

/** The process of a running engine. */
export interface EngineProcess {
  pid: number;
  /** Resolves when the process has ended. */
  exited: Promise<void>;
  /** The process that started it in its sandbox, and ends with it; left out by an engine without a sandbox. */
  launcher?: number;
  /** Whether an earlier host started it, and this host found it running. */
  wasFound: boolean;
  /** The processes that held the lock when this host found it; left out by an engine that was started. */
  holders?: number[];
  /** Whether it took connections already when this host found it. */
  hasServed: boolean;
  /** The offset in the log at which its output begins; for a process that was found, 0 when that lies far back. */
  logStartsAt: number;
}

/** How an engine is asked to end, and when it is killed. */
export interface HowToStop {
  /** Null for an engine that was asked already. */
  signal: NodeJS.Signals | null;
  timeoutMs: number;
  /** Whether the engine may go on, because it cannot save its data. */
  mayRefuse?: boolean;
  /** Whether the signal goes to the whole group of the process. */
  isGroup?: boolean;
}

/**
 * How the engine of a manifest is stopped; without a manifest, it may be any.
 * @param signal in place of its own.
 * @param withinMs the longest timeout.
 */
export function howToStop(
  manifest: Pick<Manifest, "engine" | "spec"> | null,
  {
    signal,
    withinMs = Number.POSITIVE_INFINITY,
  }: { signal?: NodeJS.Signals | undefined; withinMs?: number | undefined },
): HowToStop {
  const engine = manifest === null ? undefined : engineFor(manifest.engine.name, manifest.spec.kind);
  if (manifest === null || engine === undefined) return { signal: signal ?? "SIGTERM", timeoutMs: 20_000 };
  return {
    signal: signal ?? engine.stopSignal,
    timeoutMs: Math.min(withinMs, engine.stopTimeoutOf?.(manifest.spec) ?? engine.stopTimeoutMs),
    mayRefuse: engine.shutdownRefusedPattern !== undefined,
    isGroup: engine.stopsGroup === true,
  };
}

/**
 * Starts the engine. The engine survives the host, and the next host finds it by its lock.
 * @param confine begins to limit the process, or the sandbox that it will show itself in. Resolves when that is done,
 * with null or with why it failed.
 * @throws what `confine` resolves with, for a customer's command, which does not run then.
 */
export async function startEngine(
  engine: Engine,
  context: EngineContext<InstanceSpec>,
  folder: InstanceFolder,
  confine: (pid: number) => Promise<PublicError | null>,
): Promise<EngineProcess> {
  const lockFd = takeLock(folder.lock) ?? (await takeOrphanedLock(folder));
  // The host has the lock, so no engine runs, whatever these files say.
  for (const path of engine.pidFiles?.(context) ?? []) rmSync(path, { force: true });
  const { name, version } = context.installed;
  const log = openLog(folder.log, `${name} ${version} starts`);
  try {
    const { command, ...rights } = launchOf(engine, context);
    const child = Bun.spawn([...processLimitPrefix(context.limits), ...command], {
      cwd: folder.data,
      detached: true,
      // The lock follows the three standard descriptors, and must keep its number.
      stdio: [context.application === undefined ? "ignore" : "pipe", log.fd, log.fd, lockFd],
      ...rights,
    });
    child.unref();
    const oomScore = oomScoreOf(engine, context);
    setOomScore(child.pid, oomScore);
    const confined = confine(child.pid);
    const exited = child.exited.then(() => undefined);
    const started = { pid: child.pid, exited, wasFound: false, hasServed: false, logStartsAt: log.startsAt };
    if (context.application === undefined) return started;
    // Any other launcher becomes the application itself.
    const isLaunched = context.application.sandbox.level === "bubblewrap";
    // The sandbox is made meanwhile and takes about as long, so a search before that would mostly find nothing.
    const fault = await confined;
    const pid = isLaunched ? await sandboxedPid(child, folder) : child.pid;
    await letGo(child, fault, oomScore);
    return isLaunched ? { ...started, pid, launcher: child.pid } : started;
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      throw new PublicError(`${context.installed.program} is missing. Run: pilvi engines install`, error);
    }
    throw error;
  } finally {
    // From here on the engine alone holds the lock.
    closeSync(lockFd);
    closeSync(log.fd);
  }
}

/** The command of the engine, its environment and its user. */
function launchOf(engine: Engine, context: EngineContext<InstanceSpec>) {
  const { account, installed, spec } = context;
  const command = engine.command?.(context) ?? [...commandOf(installed), ...engine.args(context)];
  const env = { ...installed.env, ...engine.env?.(context), TZ: "UTC" };
  if (account === null || engine.needsLowPort?.(spec) !== true) return { command, env, ...ownUser(account) };
  return { command: [...lowPortPrefix(account, env), ...command], env: {} };
}

/** An application that has given its lock away by then is known by its sandbox alone. */
const FOUND_WITHIN_MS = 5_000;

/** The application itself: the child of the sandbox's first process, and the first to hold the lock there. */
async function sandboxedPid(launcher: Bun.Subprocess, { lock }: InstanceFolder): Promise<number> {
  const giveUpAt = performance.now() + FOUND_WITHIN_MS;
  while (launcher.exitCode === null && launcher.signalCode === null && performance.now() < giveUpAt) {
    const pid = childrenOf(launcher.pid)
      .flatMap(childrenOf)
      .find((each) => holdsLock(each, lock));
    if (pid !== undefined) return pid;
    await Bun.sleep(1);
  }
  return launcher.pid;
}

/** Lets a customer's command through its gate once all processes of its sandbox have their limits and their score. */
async function letGo(launcher: Bun.Subprocess, fault: PublicError | null, oomScore: number): Promise<void> {
  const gate = launcher.stdin;
  if (gate === undefined || typeof gate === "number") throw new Error("the command has no gate");
  if (fault === null) for (const pid of familyOf(launcher.pid)) setOomScore(pid, oomScore);
  try {
    if (fault === null) await gate.write(`${GO}\n`);
    await gate.end();
  } catch (error) {
    // The sandbox has ended meanwhile; its watcher notices that.
    if (codeOf(error) !== "EPIPE") throw error;
  }
  if (fault === null) return;
  await launcher.exited;
  throw fault;
}

/** A process with its children and theirs. */
function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

/** The score that the kernel adds to the size of the engine's first process. */
export function oomScoreOf(engine: Engine, { spec }: EngineContext<InstanceSpec>): number {
  return engine.oomScore?.(spec) ?? CUSTOMER_OOM_SCORE;
}

/** The engine that holds the instance's lock; null when the lock is free. */
export function findEngine(folder: InstanceFolder, holders?: Map<string, number[]>): EngineProcess | null {
  // A search through all processes is slow, and an instance that sleeps has none.
  if (holders === undefined && !isLocked(folder.lock)) return null;
  const pids = holdersOf(folder.lock, holders);
  const pid = engineAmong(pids);
  if (pid === null) return null;
  const found = { wasFound: true, holders: pids, hasServed: hasServed(folder, pid) };
  return { pid, exited: exitOf(pid), ...found, logStartsAt: latestStart(folder.log) };
}

/** Kills the engine without waiting for its exit. */
export function killEngine({ pid }: EngineProcess): void {
  signalProcess(pid, "SIGKILL");
}

/** Stops the engine cleanly, or by force after the timeout, and then removes all that it left behind. */
export async function stopEngine(
  process: EngineProcess | null,
  how: HowToStop,
  folder: InstanceFolder,
): Promise<void> {
  if (process !== null) {
    const group = how.isGroup === true ? processGroupOf(process.pid) : 0;
    if (how.signal !== null) signalProcess(group === 0 ? process.pid : -group, how.signal);
    const timer = setTimeout(() => signalProcess(process.pid, "SIGKILL"), how.timeoutMs);
    await process.exited;
    clearTimeout(timer);
  }
  await killHolders(folder.lock);
  await freeSharedMemory(folder);
}

/**
 * Stops the engine cleanly, however long that takes, and then removes all that it left behind.
 * @param refused resolves when the engine says that it will not end.
 * @returns false when the engine goes on.
 */
export async function endEngine(
  process: EngineProcess,
  signal: NodeJS.Signals,
  refused: Promise<unknown>,
  folder: InstanceFolder,
): Promise<boolean> {
  signalProcess(process.pid, signal);
  const hasEnded = await Promise.race([process.exited.then(() => true), refused.then(() => false)]);
  if (!hasEnded) return false;
  await killHolders(folder.lock);
  await freeSharedMemory(folder);
  return true;
}

async function takeOrphanedLock(folder: InstanceFolder): Promise<number> {
  await killHolders(folder.lock);
  const fd = takeLock(folder.lock);
  if (fd === null) throw new Error(`the lock ${folder.lock} is held by a process that cannot be found`);
  return fd;
}

function ownUser(account: Account | null): { uid?: number; gid?: number } {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

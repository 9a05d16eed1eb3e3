// The lock of an instance: an open file that its engine inherits. The kernel itself shows whether the engine runs.
import {
  closeSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { tryLock } from "../../lib/libc.ts";
import { codeOf } from "../../lib/errors.ts";
import { openUnleased } from "../../lib/leases.ts";
import { exitOf } from "./exit-watch.ts";
import { textOf } from "./proc-files.ts";
import { signalProcess } from "./signals.ts";

/** The descriptor number under which an engine holds its lock. */
export const LOCK_FD = 3;

/** The same number on x64 and arm64; Bun has no name for it. */
const O_PATH = 0o10_000_000;

/**
 * Takes the lock for a new engine; null while an engine runs, or a process that has the file open has a lease on it. The
 * caller closes the descriptor after the start.
 */
export function takeLock(path: string): number | null {
  // An engine inherits the descriptor, and must not be able to write to it.
  const fd = openUnleased(path, constants.O_RDONLY | constants.O_CREAT, 0o600);
  if (fd === null || tryLock(fd)) return fd;
  closeSync(fd);
  return null;
}

/** Whether a process holds the lock. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const fd = takeLock(path);
  if (fd === null) return true;
  closeSync(fd);
  return false;
}

/**
 * All processes that have an instance's lock open where an engine has it, by the path of the lock: the engine and those
 * that inherited the descriptor, since nobody else may open the file. The kernel says so, never a pid file.
 */
export function lockHolders(): Map<string, number[]> {
  const holders = new Map<string, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const target = readLink(`/proc/${entry}/fd/${LOCK_FD}`);
    if (target === null || !target.endsWith("/lock") || !hasOpen(Number(entry), target)) continue;
    holders.set(target, [...(holders.get(target) ?? []), Number(entry)]);
  }
  return holders;
}

/**
 * Whether a descriptor whose link names this path is what it seems. Any process can have a descriptor of a file that it
 * may not open (`O_PATH`), and a file of its own at the same path of another namespace.
 */
function hasOpen(pid: number, path: string): boolean {
  const [open, lock] = [`/proc/${pid}/fd/${LOCK_FD}`, path].map((each) => orNoLock(() => statSync(each)));
  if (open === null || open?.ino !== lock?.ino || open?.dev !== lock?.dev) return false;
  // For a file of its own, a process of a customer can have the kernel list millions of locks here.
  const flags = /^flags:\s+([0-7]+)$/m.exec(textOf(`/proc/${pid}/fdinfo/${LOCK_FD}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & O_PATH) === 0;
}

/** Kills processes that an engine left behind, such as a child that saves, and resolves when the lock is free. */
export async function killHolders(lockPath: string): Promise<void> {
  // A search through all processes is slow, and the lock is mostly free.
  if (!isLocked(lockPath)) return;
  const pids = holdersOf(lockPath);
  const exits = pids.map((pid) => exitOf(pid));
  for (const pid of pids) signalProcess(pid, "SIGKILL");
  await Promise.all(exits);
}

/** The processes that hold this lock: the engine and its children. */
export function holdersOf(lockPath: string, holders = lockHolders()): number[] {
  const path = resolved(lockPath);
  return path === null ? [] : (holders.get(path) ?? []);
}

/** The path without symbolic links; null when the file does not exist, or no longer. */
function resolved(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return null;
  }
}

/**
 * The engine itself among the holders of its lock; null when only children of it are left, such as a child that saves.
 * The host starts an engine as the leader of a session, and the engine's parent does not hold the lock.
 */
export function engineAmong(pids: number[]): number | null {
  const isEngine = (pid: number) => {
    const { parent, session } = relationsOf(pid);
    // The first process of a sandbox leads the session of the application, its child.
    return (session === pid || session === parent) && !pids.includes(parent);
  };
  return pids.find(isEngine) ?? null;
}

/** Whether a process holds this lock, as `lockHolders` knows it. */
export function holdsLock(pid: number, lockPath: string): boolean {
  const path = resolved(lockPath);
  return path !== null && readLink(`/proc/${pid}/fd/${LOCK_FD}`) === path && hasOpen(pid, path);
}

/** The process group of a process; 0 when it has ended. */
export function processGroupOf(pid: number): number {
  return relationsOf(pid).group;
}

function relationsOf(pid: number): { parent: number; group: number; session: number } {
  try {
    // The name in parentheses may hold anything, so the fields are counted from its end.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(parent), group: Number(group), session: Number(session) };
  } catch {
    // The process has ended meanwhile.
    return { parent: 0, group: 0, session: 0 };
  }
}

function readLink(path: string): string | null {
  return orNoLock(() => readlinkSync(path));
}

/**
 * Null for any error: a file that cannot be looked at is no lock of an instance. Its path is in the hands of its process,
 * and may be longer than any path may be, lead through a file of this machine, or be no text.
 */
function orNoLock<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch {
    return null;
  }
}

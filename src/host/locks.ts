// The lock of an instance: an open file that its engine inherits, so the kernel itself says whether it runs.
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { tryLock } from "../lib/libc.ts";
import { codeOf } from "../lib/errors.ts";

/** The descriptor number under which an engine holds its lock. */
export const LOCK_FD = 3;

/** Takes the lock for an engine about to start; null when one runs. The caller closes the descriptor after the start. */
export function takeLock(path: string): number | null {
  const fd = openSync(path, "a", 0o600);
  if (tryLock(fd)) return fd;
  closeSync(fd);
  return null;
}

/** Whether a process holds the lock. */
export function isLocked(path: string): boolean {
  const fd = takeLock(path);
  if (fd === null) return true;
  closeSync(fd);
  return false;
}

/** Every process that holds an instance's lock, by the path of the lock; asked of the kernel, never of a pid file. */
export function lockHolders(): Map<string, number[]> {
  const holders = new Map<string, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const target = readLink(`/proc/${entry}/fd/${LOCK_FD}`);
    if (target === null || !target.endsWith("/lock")) continue;
    holders.set(target, [...(holders.get(target) ?? []), Number(entry)]);
  }
  return holders;
}

/** The processes that hold this lock; the first is the one whose parent is not among them, the engine itself. */
export function holdersOf(lockPath: string, holders = lockHolders()): number[] {
  const pids = holders.get(realpathSync(lockPath)) ?? [];
  const isChild = (pid: number) => pids.includes(parentOf(pid));
  return [...pids].sort((a, b) => Number(isChild(a)) - Number(isChild(b)));
}

function parentOf(pid: number): number {
  try {
    // The name in parentheses may hold anything, so the fields are counted from its end.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    // The process has ended meanwhile.
    return 0;
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (["ENOENT", "EACCES", "ESRCH"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

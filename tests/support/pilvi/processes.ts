// Reads processes from /proc, and kills them.
import { readdirSync, readFileSync } from "node:fs";

/** Kills a process, unless it has ended by itself meanwhile. */
export function killIfThere(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The pids of the engine processes of the instance in a folder, without processes that they have only just forked. */
export function enginePidsAt(folder: string): number[] {
  const pids = allPids().filter((pid) => commandLine(pid).some((word) => word.includes(folder)));
  return pids.filter((pid) => {
    const parent = parentOf(pid);
    // A process that was only just forked may have ended since, and then has no parent any more.
    return parent !== 0 && !pids.includes(parent);
  });
}

/** Sorts parents before their children; sorted by number, children may come first, as numbers begin anew. */
export function parentsFirst(pids: readonly number[]): number[] {
  const isChild = (pid: number) => Number(pids.includes(parentOf(pid)));
  return pids.toSorted((one, other) => isChild(one) - isChild(other));
}

function allPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The pids of the living children of a process. */
export function childrenOf(parent: number): number[] {
  return allPids().filter((pid) => isAlive(pid) && parentOf(pid) === parent);
}

/** The pid of the parent of a process; 0 for a process that has ended meanwhile. */
export function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}

/** The program of a process and its arguments; empty for a process that has ended meanwhile. */
export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .split("\0")
      .filter((word) => word !== "");
  } catch {
    return [];
  }
}

// The start times of processes, from the kernel.
import { readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second for all programs. */
const TICKS_PER_SECOND = 100;
/** The index of the start time among the fields after the name. */
const START_FIELD = 19;

/** When a process was started, in the kernel's own count; throws for a process that is gone. */
export function startTicks(pid: number): number {
  // The name in parentheses may hold anything, so the fields are counted from its end.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD]);
}

/** The start time of a process; null for a process that is gone. */
export function startedAt(pid: number): Date | null {
  try {
    const ticks = startTicks(pid);
    const upSeconds = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
    return new Date(Date.now() - (upSeconds - ticks / TICKS_PER_SECOND) * 1_000);
  } catch {
    return null;
  }
}

// The start times of processes, from the kernel.
import { readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second for all programs. */
const TICKS_PER_SECOND = 100;
/** The index of the start time among the fields after the name. */
const START_FIELD = 19;

/** When a process was started, in the kernel's own count; throws for a process that is gone. */
function startTicks(pid: number): number {
  // The name in parentheses may hold anything, so the fields are counted from its end.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD]);
}

/** What no other process has until the machine is started anew; null for a process that is gone. */
export function identityOf(pid: number): string | null {
  try {
    return `${pid} ${startTicks(pid)}`;
  } catch {
    return null;
  }
}

/**
 * What no other process ever has, also on other starts of the machine; null for a process that is gone, and where the
 * kernel does not name its start.
 */
export function lastingIdentityOf(pid: number): string | null {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${pid} ${startTicks(pid)}`;
  } catch {
    return null;
  }
}

/** How long the machine has been up, in milliseconds: a clock that nobody sets, and that outlives a host. */
export function machineUpMs(): number {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000;
}

/** The start time of a process; null for a process that is gone. */
export function startedAt(pid: number): Date | null {
  try {
    return new Date(Date.now() - (machineUpMs() - (startTicks(pid) * 1_000) / TICKS_PER_SECOND));
  } catch {
    return null;
  }
}

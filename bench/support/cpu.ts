// The processor time that a process has taken, from /proc.
import { readFileSync } from "node:fs";

/** The processor time of a process since its start, in nanoseconds. */
export function cpuNs(pid: number): number {
  const tasks = new Bun.Glob("*/schedstat").scanSync({ cwd: `/proc/${pid}/task` });
  return [...tasks].reduce((sum, task) => sum + timeOf(`/proc/${pid}/task/${task}`), 0);
}

/** Threads may end during the read. */
function timeOf(schedstat: string): number {
  try {
    return Number(readFileSync(schedstat, "utf8").split(" ", 1)[0]);
  } catch {
    return 0;
  }
}

/** The length of the kernel's clock tick, which /proc counts in. */
const TICK_NS = 10_000_000;

/** As `cpuNs`, with the time of threads that have ended, in steps of a clock tick. */
export function cpuNsOfAllThreads(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may hold anything, so the fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_NS;
}

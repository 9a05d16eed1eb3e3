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

// The processor time and the memory of a process with all its children, from /proc.
import { childrenOf, textOf } from "./proc-files.ts";

/** The kernel counts in hundredths of a second for all programs. */
const MS_PER_TICK = 10;
/** The index of the first of four times among the fields after the name: own and of children, user and system each. */
const FIRST_TIME_FIELD = 11;
const TIMES = 4;

/** The usage of an instance. */
export interface ProcessUsage {
  /** Since the start of its first process. */
  cpuMs: number;
  memoryBytes: number;
}

/**
 * The usage of a process and all its children; null when the process has ended.
 * @throws an error of the system when its files cannot be read for another reason.
 */
export function usageOfTree(pid: number): ProcessUsage | null {
  const pids = treeOf(pid);
  const times = pids.map(cpuMsOf);
  if (times[0] === null) return null;
  const memory = pids.map(memoryOf);
  return {
    cpuMs: sum(times.map((each) => each ?? 0)),
    // The processes share what is not anonymous, so it counts once.
    memoryBytes: sum(memory.map(({ own }) => own)) + Math.max(...memory.map(({ shared }) => shared)),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function treeOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)];
}

/** The time of a process and of its children that have ended. */
function cpuMsOf(pid: number): number | null {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === "") return null;
  // The name in parentheses may hold anything, so the fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const times = fields.slice(FIRST_TIME_FIELD, FIRST_TIME_FIELD + TIMES).map(Number);
  return sum(times) * MS_PER_TICK;
}

function memoryOf(pid: number): { own: number; shared: number } {
  const status = textOf(`/proc/${pid}/status`);
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { own: bytes("RssAnon"), shared: bytes("RssFile") + bytes("RssShmem") };
}

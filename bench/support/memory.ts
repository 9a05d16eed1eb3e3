// Reads the memory of processes from /proc.
import { readFileSync } from "node:fs";

/** Kilobytes. Shared pages count in full in `rss`, by their share in `pss`, and not at all in `own`. */
export interface Memory {
  rss: number;
  pss: number;
  own: number;
}

/** The memory of some processes together; their `rss` counts shared pages more than once. */
export function memoryOf(pids: readonly number[]): Memory {
  const sum: Memory = { rss: 0, pss: 0, own: 0 };
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    sum.rss += figure(text, "Rss");
    sum.pss += figure(text, "Pss");
    sum.own += figure(text, "Private_Clean") + figure(text, "Private_Dirty");
  }
  return sum;
}

/** The growth between two states, divided by a count. */
export function growth(before: Memory, after: Memory, count: number): Memory {
  return {
    rss: (after.rss - before.rss) / count,
    pss: (after.pss - before.pss) / count,
    own: (after.own - before.own) / count,
  };
}

/** The pids of the direct children of a process. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

function figure(text: string, name: string): number {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text) ?? [];
  if (kilobytes === undefined) throw new Error(`the kernel does not report ${name}`);
  return Number(kilobytes);
}

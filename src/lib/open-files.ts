// How many files and connections a process of this machine may have open.
import { readFileSync } from "node:fs";

/** The limit of this process and of those that it starts; infinite when there is none. */
export function openFileLimit(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

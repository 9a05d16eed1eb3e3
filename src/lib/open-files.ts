// How many files and connections a process of this machine may have open.
import { readFileSync } from "node:fs";
import { limitOpenFiles } from "./libc.ts";

/** The limit of this process and of those that it starts; infinite when there is none. */
export function openFileLimit(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

/** Lets this process have as many files open, where it has the right to; a higher limit stays as it is. */
export function raiseOpenFileLimit(count: number): void {
  if (openFileLimit() < count) limitOpenFiles(count);
}

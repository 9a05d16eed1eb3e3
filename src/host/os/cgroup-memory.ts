// The memory of a group: how much of it is in use, and how much of it may be.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { codeOf } from "../../lib/errors.ts";
import type { MemoryFiles } from "./cgroup-backends.ts";

/** The bytes in use, without file contents that the kernel may drop at any time; null where there is no group. */
export function memoryIn({ usage, droppable }: MemoryFiles): number | null {
  try {
    const line = new RegExp(`^${droppable.name} (\\d+)$`, "m").exec(readFileSync(droppable.path, "utf8"));
    return Math.max(0, numberIn(usage) - Number(line?.[1] ?? 0));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * Limits memory. A group that uses more than its new limit keeps the former limit until the next start, because a
 * change must not kill it. Swap beyond the limit is off: a hog would keep the disk busy for all before it ends.
 */
export function limitMemory({ limit: path, swap, usage }: MemoryFiles, bytes: number): void {
  if (numberIn(usage) > bytes) return;
  const files: [path: string, value: string][] = [[path, String(bytes)]];
  if (existsSync(swap.path)) files.push([swap.path, swap.counts === "all" ? String(bytes) : "0"]);
  // Memory and swap together must never be less than memory, so a raise writes the sum first.
  const isRaised = bytes > numberIn(path);
  for (const [file, value] of isRaised ? files.toReversed() : files) {
    try {
      writeFileSync(file, value);
    } catch (error) {
      // The group has just begun to use more than that.
      if (codeOf(error) !== "EBUSY") throw error;
    }
  }
}

/** The number in a file; version 2 has a word for no limit. */
function numberIn(path: string): number {
  const text = readFileSync(path, "utf8").trim();
  return text === "max" ? Infinity : Number(text);
}

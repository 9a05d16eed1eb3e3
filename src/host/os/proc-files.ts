// Reads the kernel's files about processes, which may end at any moment.
import { readFileSync, statSync } from "node:fs";
import { codeOf } from "../../lib/errors.ts";

/** The process or the file does not exist, or no longer; the files of an ended process may also be closed to readers. */
const GONE = new Set(["ENOENT", "ESRCH", "EACCES"]);

/** The text of a file; empty when it is gone. @throws any other error of the system, such as EMFILE. */
export function textOf(path: string): string {
  return orNull(() => readFileSync(path, "utf8")) ?? "";
}

/** The pids of a process's children, without theirs; empty when the process has ended. */
export function childrenOf(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).trim();
  return children === "" ? [] : children.split(" ").map(Number);
}

/** The uid of a file's owner, and of a process for its folder; null when it does not exist, or no longer. */
export function ownerOf(path: string): number | null {
  return orNull(() => statSync(path).uid);
}

/** Null when the file or the process is gone. @throws any other error of the system. */
export function orNull<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch (error) {
    if (GONE.has(codeOf(error) ?? "")) return null;
    throw error;
  }
}

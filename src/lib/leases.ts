// Opens files that another process of the same user can have open. Such a process can take a lease on the file
// (fcntl(2), F_SETLEASE), and the kernel has any other open wait until the lease is given back, for 45 s at most.
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { codeOf } from "./errors.ts";

/**
 * Opens a file at once, or not at all.
 * @param flags of open(2). @param mode of a file that is made.
 * @returns null while a process has a lease on the file. The kernel asks for it back.
 */
export function openUnleased(path: string, flags: number, mode?: number): number | null {
  try {
    return openSync(path, flags | constants.O_NONBLOCK, mode);
  } catch (error) {
    if (isLeased(error)) return null;
    throw error;
  }
}

/** The content of a text file; null when it does not exist, or a process has a lease on it. */
export function readUnleased(path: string): string | null {
  let fd: number | null;
  try {
    fd = openUnleased(path, constants.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  if (fd === null) return null;
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Whether an open with `O_NONBLOCK` has failed because of a lease. */
export function isLeased(error: unknown): boolean {
  return codeOf(error) === "EAGAIN";
}

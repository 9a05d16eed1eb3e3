// Reads and writes files where other users may put anything in their place, or in the place of the folders above them.
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { codeOf } from "./errors.ts";

/**
 * A part of a regular file as text, at most `maxBytes` of its beginning or its end; empty when there is no such file. A
 * link is never followed, and a pipe never waited for.
 */
export function readForeign(path: string, maxBytes: number, part: "beginning" | "end" = "beginning"): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return "";
    const bytes = Buffer.alloc(Math.min(stats.size, maxBytes));
    const from = part === "beginning" ? 0 : stats.size - bytes.length;
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, from));
  } finally {
    closeSync(fd);
  }
}

/**
 * Works in a folder of another user, in the place of which that user may put a link at any moment.
 * @param work gets a path that leads to the folder itself, and is right until it returns.
 * @returns null when there is no such folder, or a link to one in its place.
 */
export function inForeignFolder<T>(path: string, work: (folder: string) => T): T | null {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
  try {
    return work(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a file for another user into a folder of that user, in place of the file or link of its name. Nothing that the
 * user makes there meanwhile is written to or given away.
 * @param owner null for this process's own user.
 * @throws when a folder has the name, or somebody makes a file of the name meanwhile.
 */
export function writeForeign(
  path: string,
  content: string,
  owner: { uid: number; gid: number } | null,
): void {
  rmSync(path, { force: true });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(fd, content);
    if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
  } finally {
    closeSync(fd);
  }
}

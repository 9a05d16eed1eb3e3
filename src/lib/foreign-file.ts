// Reads files that belong to other users, who may put anything in their place.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

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

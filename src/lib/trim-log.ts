// Keeps a log file that others write to from growing without end.
import { copyFileSync, statSync, truncateSync } from "node:fs";

const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** Moves the content of a large log to `.1` and empties it in place; whoever appends to it goes on undisturbed. */
export function trimLog(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < MAX_LOG_BYTES) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
}

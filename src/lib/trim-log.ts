// Keeps a log file that others write to from growing without end.
import { closeSync, openSync, readSync, statSync, truncateSync, writeSync } from "node:fs";

const MAX_LOG_BYTES = 16 * 1024 * 1024;

/**
 * Moves the end of a large log to `.1` and empties it in place; its writers go on undisturbed. However fast a customer
 * has its engine write, no more than so many bytes are moved.
 */
export function trimLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < MAX_LOG_BYTES) return;
  try {
    copyEnd(path, `${path}.1`, size - MAX_LOG_BYTES);
  } finally {
    // On a full disk the end cannot be kept, but its room is needed all the more.
    truncateSync(path);
  }
}

function copyEnd(path: string, target: string, fromByte: number): void {
  const from = openSync(path, "r");
  const to = openSync(target, "w", statSync(path).mode);
  try {
    const bytes = Buffer.alloc(MAX_LOG_BYTES);
    writeSync(to, bytes, 0, readSync(from, bytes, 0, bytes.length, fromByte));
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

// Keeps a log file that others write to from growing without end.
import { closeSync, openSync, readSync, statSync, truncateSync, writeSync } from "node:fs";

const MAX_LOG_BYTES = 16 * 1024 * 1024;

/**
 * Moves the end of a large log to `.1` and empties it in place; whoever appends to it goes on undisturbed. However fast a customer
 * had its engine write, no more is moved than so many bytes.
 */
export function trimLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < MAX_LOG_BYTES) return;
  try {
    copyEnd(path, `${path}.1`, size - MAX_LOG_BYTES);
  } finally {
    // On a full disk its end cannot be kept, and room is all the more needed.
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

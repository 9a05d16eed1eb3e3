// Waits for a line in a growing log file, with the kernel's file notifications.
import { closeSync, constants, readSync, statSync, watch } from "node:fs";
import { openUnleased } from "../../lib/leases.ts";
import { START_MARK } from "../os/engine-log.ts";

/** How many bytes of a log are read to find why an engine ended. */
const TAIL_BYTES = 16 * 1024;

/** Bun drops an event that follows another within about a millisecond, so several further looks follow each event. */
const NEXT_LOOK_MS = 1;
const LOOKS_AFTER_EVENT = 5;

/**
 * Resolves with true when a line of the file matches, and with false when the signal is aborted first.
 * @param fromByte the offset from which lines count.
 */
export function lineAppears(
  path: string,
  pattern: RegExp,
  signal: AbortSignal,
  fromByte = 0,
): Promise<boolean> {
  return new Promise((resolve) => {
    let nextLook: ReturnType<typeof setTimeout> | undefined;
    const end = (found: boolean) => {
      watcher.close();
      clearTimeout(nextLook);
      signal.removeEventListener("abort", onAbort);
      resolve(found);
    };
    let sizeBefore = -1;
    const look = (looksLeft: number) => {
      clearTimeout(nextLook);
      const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
      if (size !== sizeBefore && pattern.test(readTail(path, fromByte))) return end(true);
      sizeBefore = size;
      if (looksLeft > 0) nextLook = setTimeout(() => look(looksLeft - 1), NEXT_LOOK_MS);
    };
    const onAbort = () => end(false);
    const watcher = watch(path, () => look(LOOKS_AFTER_EVENT));
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    // The line may have been written before the watch began.
    else look(0);
  });
}

/**
 * The end of a file, as text; empty when the file is missing, or a process has a lease on it.
 * @param fromByte the offset from which the text counts.
 */
export function readTail(path: string, fromByte = 0): string {
  return tailOf(path, fromByte).bytes.toString("utf8");
}

/** The offset of the latest start of the engine in its log; 0 when the end of the log does not reach so far back. */
export function latestStart(path: string): number {
  const { bytes, startsAt } = tailOf(path, 0);
  const at = `\n${bytes.toString("latin1")}`.lastIndexOf(`\n${START_MARK}`);
  return at === -1 ? 0 : startsAt + at;
}

/** Null for a file that is missing or cannot be opened now. */
function opened(path: string): number | null {
  try {
    return openUnleased(path, constants.O_RDONLY);
  } catch {
    return null;
  }
}

function tailOf(path: string, fromByte: number): { bytes: Buffer; startsAt: number } {
  const fd = opened(path);
  if (fd === null) return { bytes: Buffer.alloc(0), startsAt: 0 };
  try {
    const size = statSync(path).size;
    // A log that has become shorter was trimmed, and holds only its latest lines.
    const startsAt = Math.max(fromByte > size ? 0 : fromByte, size - TAIL_BYTES);
    const buffer = Buffer.alloc(size - startsAt);
    const length = readSync(fd, buffer, 0, buffer.length, startsAt);
    return { bytes: buffer.subarray(0, length), startsAt };
  } finally {
    closeSync(fd);
  }
}

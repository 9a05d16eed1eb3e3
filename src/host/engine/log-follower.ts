// Waits for a line in a growing log file, with the kernel's file notifications.
import { closeSync, constants, readSync, statSync, watch } from "node:fs";
import { openUnleased } from "../../lib/leases.ts";
import { START_MARK } from "../os/engine-log.ts";

/** How many bytes of a log are read to find why an engine ended. */
const TAIL_BYTES = 16 * 1024;

/** How many bytes of a growing log are read at once, which is more than is kept of a line that has no end yet. */
const CHUNK_BYTES = 4 * TAIL_BYTES;

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
    const search = new LineSearch(path, pattern, fromByte);
    const look = (looksLeft: number) => {
      clearTimeout(nextLook);
      if (search.finds()) return end(true);
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

/** Goes through a growing file once, from where it has come to. */
class LineSearch {
  readonly #path: string;
  readonly #pattern: RegExp;
  /** Where the first line begins that was not there as a whole yet. */
  #at: number;

  constructor(path: string, pattern: RegExp, fromByte: number) {
    this.#path = path;
    this.#pattern = pattern;
    this.#at = fromByte;
  }

  /** Whether a line that came since the previous call matches; also one whose end is still to come. */
  finds(): boolean {
    const { size } = statSync(this.#path, { throwIfNoEntry: false }) ?? { size: 0 };
    // A log that has become shorter was trimmed, and holds only its latest lines.
    if (size < this.#at) this.#at = 0;
    if (size === this.#at) return false;
    const fd = opened(this.#path);
    if (fd === null) return false;
    try {
      return this.#findsIn(fd);
    } finally {
      closeSync(fd);
    }
  }

  #findsIn(fd: number): boolean {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const length = readSync(fd, buffer, 0, buffer.length, this.#at);
      const chunk = buffer.subarray(0, length);
      if (this.#pattern.test(chunk.toString("utf8"))) return true;
      const lineAt = chunk.lastIndexOf("\n") + 1;
      this.#at += Math.max(lineAt, length - TAIL_BYTES);
      if (length < buffer.length) return false;
    }
  }
}

/**
 * The end of a file, as text; empty when the file is missing, or a process has a lease on it.
 * @param fromByte the offset from which the text counts.
 */
export function readTail(path: string, fromByte = 0): string {
  return tailOf(path, fromByte).bytes.toString("utf8");
}

/** The offset of the latest start of the engine in its log; that of the log's end that is read where it is before that. */
export function latestStart(path: string): number {
  const { bytes, startsAt } = tailOf(path, 0);
  const at = `\n${bytes.toString("latin1")}`.lastIndexOf(`\n${START_MARK}`);
  return startsAt + Math.max(0, at);
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

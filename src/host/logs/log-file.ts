// Reads the kept part of a log: its bounds, and the position of a line by time or by its distance from the end.
import type { FileHandle } from "node:fs/promises";
import { HEAD_BYTES, identityOf, KEPT_BYTES } from "../os/engine-log.ts";

/** How much of a log is read at once. A longer line counts as several lines. */
export const SLICE_BYTES = 64 * 1024;

/** The farthest way back from the end at which the last lines are searched. */
const MAX_TAIL_BYTES = 1024 ** 2;

const NEWLINE = 0x0a;

/** The time of a line in milliseconds since 1970; null for a line without a time. */
type TimeOf = (line: string) => number | null;

/** An open log as it is at one moment. */
export class LogFile {
  readonly identity: string;
  readonly size: number;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, identity: string, size: number) {
    this.#file = file;
    this.identity = identity;
    this.size = size;
  }

  static async of(file: FileHandle): Promise<LogFile> {
    const { size } = await file.stat();
    return new LogFile(file, identityOf(file.fd), size);
  }

  /** The lowest offset whose bytes are certain to be kept. */
  get keptFrom(): number {
    return this.size <= KEPT_BYTES ? 0 : Math.max(HEAD_BYTES, this.size - KEPT_BYTES);
  }

  /** The bytes from an offset on. */
  async read(offset: number, length = SLICE_BYTES): Promise<Buffer> {
    const buffer = Buffer.alloc(Math.max(0, Math.min(length, this.size - offset)));
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, offset);
    return buffer.subarray(0, bytesRead);
  }

  /** The beginning of the first whole line that is kept. */
  async begin(): Promise<number> {
    return this.keptFrom === 0 ? 0 : await this.#lineAfter(this.keptFrom);
  }

  /** The beginning of the last lines. */
  async tail(lines: number): Promise<number> {
    const limit = Math.max(this.keptFrom, this.size - MAX_TAIL_BYTES);
    let left = lines + 1;
    for (let end = this.size; end > limit;) {
      const start = Math.max(limit, end - SLICE_BYTES);
      const bytes = await this.read(start, end - start);
      for (
        let at = bytes.lastIndexOf(NEWLINE);
        at >= 0;
        at = at === 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1)
      )
        if (--left === 0) return start + at + 1;
      end = start;
    }
    return limit === 0 ? 0 : await this.#lineAfter(limit);
  }

  /** A line that is earlier than all lines of this time and later, and at most some slices before them. */
  async before(atMs: number, timeOf: TimeOf): Promise<number> {
    let low = await this.begin();
    for (let high = this.size; high - low > SLICE_BYTES;) {
      const middle = low + Math.floor((high - low) / 2);
      const found = await this.#timeAfter(middle, timeOf);
      if (found !== null && found.atMs < atMs) low = found.offset;
      else high = middle;
    }
    return low;
  }

  /** The first line with a time after an offset, within one slice. */
  async #timeAfter(offset: number, timeOf: TimeOf): Promise<{ offset: number; atMs: number } | null> {
    const bytes = await this.read(offset);
    for (let at = bytes.indexOf(NEWLINE) + 1; at > 0;) {
      const end = bytes.indexOf(NEWLINE, at);
      if (end < 0) return null;
      const atMs = timeOf(bytes.toString("utf8", at, end));
      if (atMs !== null) return { offset: offset + at, atMs };
      at = end + 1;
    }
    return null;
  }

  async #lineAfter(offset: number): Promise<number> {
    const bytes = await this.read(offset);
    return offset + bytes.indexOf(NEWLINE) + 1;
  }
}

// Walks through the entries of a chain from a position on, and reads its last entries backwards.
import { open, readFile } from "node:fs/promises";
import type { Chain, Segment } from "./chain.ts";
import { entryIn, type StoredEntry } from "./entry.ts";

/** A position within a chain. */
export interface Place {
  sequence: number;
  offset: number;
}

/** An entry with the position after it. */
export interface Found {
  entry: StoredEntry;
  /** Its time, or the time at which the clock was set back afterwards. It is never before that of the entry before it. */
  orderMs: number;
  after: Place;
}

const NEWLINE = 0x0a;

/** After so many bytes, other work of the host gets its turn. */
export const BYTES_AT_ONCE = 128 * 1024;

/** How much of a segment is read at first; a follower reads less, since there is no more. */
const PART_BYTES = 128 * 1024;

/** Bytes of a segment. */
interface Part {
  sequence: number;
  /** The offset of the first of them. */
  start: number;
  bytes: Buffer;
  /** Whether the segment has none after them. */
  isEnd: boolean;
}

/** What bounds a search for last entries. */
export interface Bounds {
  count: number;
  /** How much the entries that are found take together, but for the last of them. */
  foundBytes: number;
  examinedBytes: number;
}

export class SegmentReader {
  readonly #segments: Segment[];
  readonly #end: Place;
  /** The earliest start of all segments after a segment. */
  readonly #laterMs = new Map<number, number>();
  /** Everything before was examined. */
  place: Place;
  /** Whether segments before the first that is kept were asked for. */
  readonly hasGap: boolean;
  /** How many bytes were examined. */
  examined = 0;
  #part: Part | null = null;
  #ahead: Found | null = null;

  /** @param start null for the oldest entry that is kept. */
  constructor(chain: Pick<Chain, "segments" | "end">, start: Place | null) {
    this.#segments = chain.segments();
    this.#end = chain.end;
    let laterMs = Infinity;
    for (const { sequence, startMs } of this.#segments.toReversed()) {
      this.#laterMs.set(sequence, laterMs);
      laterMs = Math.min(laterMs, startMs);
    }
    const first = this.#segments[0]?.sequence ?? 0;
    this.hasGap = start !== null && start.sequence < first && start.sequence > 0;
    this.place = start === null || start.sequence < first ? { sequence: first, offset: 0 } : start;
  }

  /** Goes to the first segment that may have entries of this time. */
  seek(fromMs: number): void {
    const segment = this.#segments.find((_, index) => latestOf(this.#segments, index) >= fromMs);
    if (segment !== undefined) this.place = { sequence: segment.sequence, offset: 0 };
  }

  /** The next entry; null at the end. */
  async peek(): Promise<Found | null> {
    if (this.#ahead !== null) return this.#ahead;
    for (;;) {
      const line = await this.#line();
      if (line === null) {
        const next = this.#segments.find(({ sequence }) => sequence > this.place.sequence);
        if (next === undefined || next.sequence > this.#end.sequence) return null;
        this.place = { sequence: next.sequence, offset: 0 };
        continue;
      }
      const after = { sequence: this.place.sequence, offset: this.place.offset + line.length + 1 };
      const entry = entryIn(line.toString());
      this.examined += line.length + 1;
      if (entry !== null) return (this.#ahead = this.#found(entry, after));
      this.place = after;
    }
  }

  take(): void {
    if (this.#ahead !== null) this.place = this.#ahead.after;
    this.#ahead = null;
  }

  /** The last entries that are selected, the oldest first. */
  async last(isSelected: (entry: StoredEntry) => boolean, bounds: Bounds): Promise<Found[]> {
    const { count, foundBytes, examinedBytes } = bounds;
    const found: Found[] = [];
    let left = foundBytes;
    for (const { sequence } of this.#segments.toReversed()) {
      const { bytes } = await this.#read(sequence, 0, Infinity);
      let paused = this.examined;
      for (let end = bytes.length; end > 0 && found.length < count && left > 0;) {
        const start = end < 2 ? 0 : bytes.lastIndexOf(NEWLINE, end - 2) + 1;
        const entry = entryIn(bytes.toString("utf8", start, end - 1));
        this.examined += end - start;
        if (entry !== null && isSelected(entry)) {
          found.push(this.#found(entry, { sequence, offset: end }));
          left -= end - start;
        }
        end = start;
        if (this.examined - paused < BYTES_AT_ONCE) continue;
        paused = this.examined;
        await Bun.sleep(0);
      }
      if (found.length >= count || left <= 0 || this.examined > examinedBytes) break;
    }
    this.place = this.#end;
    return found.toReversed();
  }

  #found(entry: StoredEntry, after: Place): Found {
    return { entry, after, orderMs: Math.min(entry.t, this.#laterMs.get(after.sequence) ?? Infinity) };
  }

  /** The next whole line of the segment; null when it has none. */
  async #line(): Promise<Buffer | null> {
    const { sequence, offset } = this.place;
    for (let length = PART_BYTES, part = this.#part; ; length *= 2) {
      if (part?.sequence === sequence && part.start <= offset) {
        const newline = part.bytes.indexOf(NEWLINE, offset - part.start);
        if (newline >= 0) return part.bytes.subarray(offset - part.start, newline);
        if (part.isEnd) return null;
      }
      this.#part = part = await this.#read(sequence, offset, length);
    }
  }

  /** A part of a segment, of which a compressed one is read as a whole; nothing when it is no longer there. */
  async #read(sequence: number, offset: number, length: number): Promise<Part> {
    const segment = this.#segments.find((each) => each.sequence === sequence);
    // What is after the end may not be whole.
    const end = sequence === this.#end.sequence ? this.#end.offset : Infinity;
    const nothing = { sequence, start: offset, bytes: Buffer.alloc(0), isEnd: true };
    if (segment === undefined) return nothing;
    const { path, isCompressed } = segment;
    const plain = isCompressed ? null : await partOf(path, offset, length, end).catch(() => null);
    if (plain !== null) return { ...nothing, ...plain };
    // It may have been compressed meanwhile.
    const packed = await readFile(isCompressed ? path : `${path}.zst`).catch(() => null);
    if (packed === null) return nothing;
    const bytes = await Bun.zstdDecompress(packed);
    return { sequence, start: 0, bytes: bytes.subarray(0, end), isEnd: true };
  }
}

/** No entry of a segment is later. */
function latestOf(segments: readonly Segment[], index: number): number {
  const next = segments[index + 1];
  return next === undefined ? Infinity : (next.formerMs ?? next.startMs);
}

/** Reads a part of a file that ends at `end` at the latest. */
async function partOf(
  path: string,
  offset: number,
  length: number,
  end: number,
): Promise<Pick<Part, "bytes" | "isEnd">> {
  const file = await open(path, "r");
  try {
    const size = Math.min((await file.stat()).size, end);
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return { bytes: buffer.subarray(0, bytesRead), isEnd: bytesRead === 0 || offset + bytesRead >= size };
  } finally {
    await file.close();
  }
}

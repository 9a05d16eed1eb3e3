// Walks through the entries of a chain from a position on, and reads its last entries backwards.
import { readFile } from "node:fs/promises";
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
  after: Place;
}

const NEWLINE = 0x0a;

/** After so many bytes, other work of the host gets its turn. */
export const BYTES_AT_ONCE = 128 * 1024;

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
  /** Everything before was examined. */
  place: Place;
  /** Whether segments before the first that is kept were asked for. */
  readonly hasGap: boolean;
  /** How many bytes were examined. */
  examined = 0;
  #content: { sequence: number; bytes: Buffer } | null = null;
  #ahead: Found | null = null;

  /** @param start null for the oldest entry that is kept. */
  constructor(chain: Chain, start: Place | null) {
    this.#segments = chain.segments();
    this.#end = chain.end;
    const first = this.#segments[0]?.sequence ?? 0;
    this.hasGap = start !== null && start.sequence < first && start.sequence > 0;
    this.place = start === null || start.sequence < first ? { sequence: first, offset: 0 } : start;
  }

  /** Goes to the first segment that may have entries of this time. */
  seek(fromMs: number): void {
    const segment = this.#segments.findLast(({ startMs }) => startMs < fromMs);
    if (segment !== undefined) this.place = { sequence: segment.sequence, offset: 0 };
  }

  /** The next entry; null at the end. */
  async peek(): Promise<Found | null> {
    if (this.#ahead !== null) return this.#ahead;
    for (;;) {
      const bytes = await this.#bytes(this.place.sequence);
      const newline = bytes.indexOf(NEWLINE, this.place.offset);
      if (newline < 0) {
        const next = this.#segments.find(({ sequence }) => sequence > this.place.sequence);
        if (next === undefined || next.sequence > this.#end.sequence) return null;
        this.place = { sequence: next.sequence, offset: 0 };
        continue;
      }
      const after = { sequence: this.place.sequence, offset: newline + 1 };
      const entry = entryIn(bytes.toString("utf8", this.place.offset, newline));
      this.examined += after.offset - this.place.offset;
      if (entry !== null) return (this.#ahead = { entry, after });
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
      const bytes = await this.#bytes(sequence);
      let paused = this.examined;
      for (let end = bytes.length; end > 0 && found.length < count && left > 0;) {
        const start = end < 2 ? 0 : bytes.lastIndexOf(NEWLINE, end - 2) + 1;
        const entry = entryIn(bytes.toString("utf8", start, end - 1));
        this.examined += end - start;
        if (entry !== null && isSelected(entry)) {
          found.push({ entry, after: { sequence, offset: end } });
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

  /** The whole lines of a segment; nothing of a segment that is no longer there. */
  async #bytes(sequence: number): Promise<Buffer> {
    if (this.#content?.sequence === sequence) return this.#content.bytes;
    const bytes = await this.#read(sequence);
    const whole = sequence === this.#end.sequence ? bytes.subarray(0, this.#end.offset) : bytes;
    this.#content = { sequence, bytes: whole };
    return whole;
  }

  async #read(sequence: number): Promise<Buffer> {
    const segment = this.#segments.find((each) => each.sequence === sequence);
    if (segment === undefined) return Buffer.alloc(0);
    const { path, isCompressed } = segment;
    const plain = isCompressed ? null : await readFile(path).catch(() => null);
    if (plain !== null) return plain;
    // It may have been compressed meanwhile.
    const packed = await readFile(isCompressed ? path : `${path}.zst`).catch(() => null);
    return packed === null ? Buffer.alloc(0) : await Bun.zstdDecompress(packed);
  }
}

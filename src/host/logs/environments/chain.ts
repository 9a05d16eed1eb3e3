// A chain of segments: files of entries, of which the newest grows and the others are compressed.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { replaceFile } from "../../../lib/files.ts";
import { isHead, type Positions, type StoredEntry, entryIn } from "./entry.ts";

/** A segment of this size, or of this age, is closed. */
export const SEGMENT_BYTES = 8 * 1024 ** 2;
const SEGMENT_AGE_MS = 3_600_000;

/** An environment has fewer processes at a time; files of earlier processes are gone. */
const MAX_POSITIONS = 200;

/** Entries that are dated farther ahead than this were written while the clock was wrong. */
const MAX_AHEAD_MS = 60_000;

const NAME = /^([ax])\.(\d{1,12})\.(\d{1,15})(?:\.(\d{1,15}))?\.log(\.zst)?$/;

/** `a` has the entries of processes, `x` those of the edge, which come first when room is needed. */
type ChainName = "a" | "x";

export interface Segment {
  sequence: number;
  /** No entry is earlier. */
  startMs: number;
  /** No entry of the segment before is later, when that is not the start: the clock was set back between them. */
  formerMs?: number;
  path: string;
  isCompressed: boolean;
  /** On the disk. */
  bytes: number;
}

/** The segment that grows. */
interface NewestSegment {
  sequence: number;
  startMs: number;
  path: string;
  size: number;
}

/** How many entries were written, and how many bytes they are. */
export interface Written {
  count: number;
  bytes: number;
}

export class Chain {
  readonly folder: string;
  readonly #name: ChainName;
  readonly #onFull: () => void;
  readonly positions: Record<string, number> = {};
  #newest: NewestSegment | null = null;
  #isCompressing = false;
  /** The time of the latest entry of the newest segment. */
  #lastMs = 0;

  /**
   * Takes up the segments of an earlier host; a line that it has not finished is cut off.
   * @param onFull called whenever a segment is full.
   */
  constructor(folder: string, name: ChainName, onFull: () => void) {
    this.folder = folder;
    this.#name = name;
    this.#onFull = onFull;
    const newest = segmentsOf(folder, name).at(-1);
    if (newest !== undefined) this.#takeUp(newest);
  }

  /** The segment and the size up to which entries are complete. */
  get end(): { sequence: number; offset: number } {
    return { sequence: this.#newest?.sequence ?? 0, offset: this.#newest?.size ?? 0 };
  }

  /** No further entry may be earlier. */
  get latestMs(): number {
    return Math.max(this.#lastMs, this.#newest?.startMs ?? 0);
  }

  /**
   * Lets entries go on at the present time when the clock was ahead, in a segment of its own: so the wrong times are those
   * of the entries that were written meanwhile.
   */
  followClock(nowMs: number): void {
    const formerMs = this.latestMs;
    if (formerMs > nowMs + MAX_AHEAD_MS) this.#begin(nowMs, formerMs);
  }

  segments(): Segment[] {
    return segmentsOf(this.folder, this.#name);
  }

  /**
   * Appends entries in one write, so that a kill leaves whole lines and at most a part of a line, which is cut off later.
   * @param maxBytes reached by the last entry that is written; the first is always written.
   */
  append(entries: readonly StoredEntry[], maxBytes = Infinity): Written {
    const [first] = entries;
    if (first === undefined) return { count: 0, bytes: 0 };
    const newest = this.#newest ?? this.#begin(first.t);
    const lines = linesOf(entries, maxBytes);
    const text = Buffer.concat(lines);
    try {
      appendFileSync(newest.path, text, { mode: 0o600 });
    } catch (error) {
      // What a full disk took of it must not come twice.
      truncateSync(newest.path, newest.size);
      throw error;
    }
    newest.size += text.length;
    for (const { i, o, t } of entries.slice(0, lines.length)) {
      if (i !== undefined && o !== undefined) this.noteRead(i, o);
      this.#lastMs = t;
    }
    if (newest.size >= SEGMENT_BYTES) {
      this.#begin(this.latestMs);
      this.#onFull();
    }
    return { count: lines.length, bytes: text.length };
  }

  /** Closes the newest segment when it is old enough and has entries. */
  close(nowMs: number): void {
    this.followClock(nowMs);
    const newest = this.#newest;
    const isOld = newest !== null && nowMs - newest.startMs > SEGMENT_AGE_MS;
    // It was finished with its last entry, whenever it is closed.
    if (isOld && this.#lastMs >= newest.startMs) this.#begin(this.#lastMs);
  }

  /** Compresses the segments that are closed. */
  async compress(): Promise<void> {
    if (this.#isCompressing) return;
    this.#isCompressing = true;
    try {
      for (const segment of this.segments().slice(0, -1)) if (!segment.isCompressed) await compress(segment);
    } finally {
      this.#isCompressing = false;
    }
  }

  /** Notes how far the output of an instance was read; the latest stand last. */
  noteRead(instance: string, offset: number): void {
    delete this.positions[instance];
    this.positions[instance] = offset;
  }

  #begin(startMs: number, formerMs?: number): NewestSegment {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const sequence = (this.#newest?.sequence ?? 0) + 1;
    const times = formerMs === undefined ? startMs : `${startMs}.${formerMs}`;
    const path = join(this.folder, `${this.#name}.${sequence}.${times}.log`);
    const positions = Object.fromEntries(Object.entries(this.positions).slice(-MAX_POSITIONS));
    const head = `${JSON.stringify({ positions } satisfies Positions)}\n`;
    replaceFile(path, head, 0o600);
    this.#lastMs = 0;
    return (this.#newest = { sequence, startMs, path, size: Buffer.byteLength(head) });
  }

  #takeUp({ sequence, startMs, path, isCompressed }: Segment): void {
    const bytes = isCompressed ? Bun.zstdDecompressSync(readFileSync(path)) : readFileSync(path);
    const size = bytes.lastIndexOf(0x0a) + 1;
    for (const line of Buffer.from(bytes.buffer, bytes.byteOffset, size).toString().split("\n")) {
      if (isHead(line)) Object.assign(this.positions, (JSON.parse(line) as Positions).positions);
      const { i, o, t } = entryIn(line) ?? {};
      if (i !== undefined && o !== undefined) this.noteRead(i, o);
      this.#lastMs = t ?? this.#lastMs;
    }
    this.#newest = { sequence, startMs, path, size };
    if (isCompressed) this.#begin(this.latestMs);
    else if (size < bytes.length) truncateSync(path, size);
  }
}

/** The lines of the first entries, up to a number of bytes. */
function linesOf(entries: readonly StoredEntry[], maxBytes: number): Buffer[] {
  const lines: Buffer[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (bytes >= maxBytes) break;
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    lines.push(line);
    bytes += line.length;
  }
  return lines;
}

/** Whether there may be a reason to close the newest segment of a chain. */
export function mayBeClosed({ startMs }: Segment, nowMs: number): boolean {
  return nowMs - startMs > SEGMENT_AGE_MS || startMs > nowMs + MAX_AHEAD_MS;
}

/** The segments of a chain, the oldest first. */
export function segmentsOf(folder: string, chain: ChainName): Segment[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  const found = new Map<number, Segment>();
  for (const name of names) {
    const [, of, sequence = "", startMs = "", formerMs, compressed] = NAME.exec(name) ?? [];
    if (of !== chain) continue;
    const path = join(folder, name);
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const isCompressed = compressed !== undefined;
    const known = found.get(Number(sequence));
    // A kill between the compressed file and the end of the other leaves both.
    if (known !== undefined && isCompressed) continue;
    found.set(Number(sequence), {
      sequence: Number(sequence),
      startMs: Number(startMs),
      ...(formerMs !== undefined && { formerMs: Number(formerMs) }),
      path,
      isCompressed,
      bytes,
    });
  }
  return [...found.values()].toSorted((a, b) => a.sequence - b.sequence);
}

async function compress({ path }: Segment): Promise<void> {
  const temporary = `${path}.zst.tmp`;
  const bytes = await readFile(path).catch((error: unknown) => {
    // A flood may have had it deleted meanwhile.
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (bytes === null) return;
  await writeFile(temporary, await Bun.zstdCompress(bytes), { mode: 0o600 });
  renameSync(temporary, `${path}.zst`);
  await failpoint("host.logs.compressed");
  rmSync(path, { force: true });
}

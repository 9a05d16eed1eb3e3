// Reads the records of Postgres' log one after the other, and checks each by its checksum, as a recovery does. So the
// keeper knows to the byte how much of a log a recovery can use.
import { CRC_START, crcOf, crcResult, uint32At } from "./crc32c.ts";
import { passRecords } from "./page-records.ts";
import { PAGE_BYTES, pageHeader, viewOf } from "./page.ts";
import { CRC_AT, HEADER_BYTES, isSwitch, previousOf, transactionEndOf } from "./record-header.ts";

/** What is kept of a record: its header, and enough of its data for the time of a commit. */
const HEAD_BYTES = 48;
const MAX_RECORD_BYTES = 2 ** 30 + 2 ** 20;
const ALIGNMENT = 8;

/** A record of which more is to come. */
interface OpenRecord {
  /** Null for a record that began before the first known segment. */
  start: number | null;
  head: Uint8Array;
  readBytes: number;
  /** Null until the next page says how many. */
  missingBytes: number | null;
  crc: number;
}

/** A place in the log at which reading goes on. */
export interface Cursor {
  position: number;
  /** Where the latest whole record begins; null as long as none is known. */
  lastRecord: number | null;
  open: OpenRecord | null;
}

export interface ReadRecords {
  /** After the latest record that was proved; the beginning when there was none. */
  proved: Cursor;
  /** After the last byte that was read. */
  end: Cursor;
  /**
   * `end`: no more is written. `switched`: the rest of this segment stays empty.
   * `broken`: what is written is no record: a page was read while it was written, or the log is damaged.
   */
  outcome: "end" | "switched" | "broken";
  /** The latest time of a commit or an abort in microseconds since 1970; null without any. */
  lastTransactionEnd: number | null;
}

/** Begins at a segment whose predecessor is not known. */
export function unknownCursor(position: number): Cursor {
  const open = { start: null, head: new Uint8Array(0), readBytes: 0, missingBytes: null, crc: 0 };
  return { position, lastRecord: null, open };
}

/**
 * Reads on from a cursor.
 * @param bytes pages that belong to this place of the log, see `writtenBytes`.
 * @param base the position of the first byte: the beginning of the page of the cursor.
 */
export function readRecords(from: Cursor, bytes: Uint8Array, base: number): ReadRecords {
  const reader = new Reader(from, bytes, base);
  while (reader.step());
  return { ...reader.result, end: reader.end };
}

class Reader {
  readonly result: Omit<ReadRecords, "end">;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #base: number;
  #at: number;
  #lastRecord: number | null;
  #open: OpenRecord | null;

  constructor(from: Cursor, bytes: Uint8Array, base: number) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#base = base;
    // A difference of positions is a floating-point number, with which every further step would be slow.
    this.#at = (from.position - base) | 0;
    this.#lastRecord = from.lastRecord;
    this.#open = from.open === null ? null : { ...from.open, head: from.open.head.slice() };
    this.result = { proved: from, outcome: "end", lastTransactionEnd: null };
  }

  get end(): Cursor {
    return { position: this.#base + this.#at, lastRecord: this.#lastRecord, open: this.#open };
  }

  /** @returns whether there is more. */
  step(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    if (this.#at % PAGE_BYTES === 0 && !this.#enterPage()) return this.#break();
    if (this.#open !== null) return this.#readOn(this.#open);
    this.#passWhole();
    return this.#at % PAGE_BYTES === 0 || this.#begin();
  }

  /** Passes over the whole records of this page. */
  #passWhole(): void {
    if (this.#lastRecord === null || this.#at % PAGE_BYTES === 0) return;
    const { at, last, transactionEnd } = passRecords(this.#bytes, this.#base, this.#at, this.#lastRecord);
    if (last === null) return;
    this.#at = at;
    this.#lastRecord = last;
    this.result.proved = this.end;
    if (transactionEnd !== null) this.#noteTransactionEnd(transactionEnd);
  }

  #noteTransactionEnd(time: number): void {
    this.result.lastTransactionEnd = Math.max(time, this.result.lastTransactionEnd ?? 0);
  }

  #break(): false {
    this.result.outcome = "broken";
    return false;
  }

  /** Skips a page's header. @returns whether the page goes on where the page before has ended. */
  #enterPage(): boolean {
    const header = pageHeader(this.#view, this.#at);
    this.#at += header.headerBytes;
    if (this.#open === null) return !header.continuesRecord;
    if (header.continuesRecord) {
      this.#open.missingBytes ??= header.restBytes;
      return header.restBytes === this.#open.missingBytes;
    }
    const isUnknown = this.#open.missingBytes === null;
    this.#open = null;
    return isUnknown || header.overwritesRecord;
  }

  #begin(): boolean {
    const recordBytes = uint32At(this.#bytes, this.#at);
    if (recordBytes === 0) {
      const isLastPage = this.#bytes.length - this.#at < PAGE_BYTES;
      return isLastPage ? false : this.#break();
    }
    if (recordBytes < HEADER_BYTES || recordBytes > MAX_RECORD_BYTES) return this.#break();
    const head = new Uint8Array(HEAD_BYTES);
    const start = this.#base + this.#at;
    this.#open = { start, head, readBytes: 0, missingBytes: recordBytes, crc: CRC_START };
    return true;
  }

  #readOn(open: OpenRecord): boolean {
    const pageEnd = this.#at - (this.#at % PAGE_BYTES) + PAGE_BYTES;
    const to = Math.min(this.#at + (open.missingBytes ?? 0), pageEnd);
    if (open.start !== null) take(open, this.#bytes, this.#at, to);
    open.missingBytes = (open.missingBytes ?? 0) - (to - this.#at);
    this.#at = to;
    return open.missingBytes > 0 || this.#finish(open);
  }

  #finish(open: OpenRecord): boolean {
    this.#at += (ALIGNMENT - (this.#at % ALIGNMENT)) % ALIGNMENT;
    this.#open = null;
    if (open.start === null) return true;
    if (!isWhole(open, this.#lastRecord)) return this.#break();
    this.#lastRecord = open.start;
    this.result.proved = this.end;
    const time = transactionEndOf(open.head, open.readBytes);
    if (time !== null) this.#noteTransactionEnd(time);
    if (!isSwitch(open.head)) return true;
    this.result.outcome = "switched";
    return false;
  }
}

/** Takes bytes of a record: the checksum begins after the header, which is checked last. */
function take(open: OpenRecord, bytes: Uint8Array, from: number, to: number): void {
  const headEnd = Math.min(to, from + Math.max(0, HEAD_BYTES - open.readBytes));
  if (headEnd > from) open.head.set(bytes.subarray(from, headEnd), open.readBytes);
  const dataFrom = from + Math.max(0, HEADER_BYTES - open.readBytes);
  if (dataFrom < to) open.crc = crcOf(open.crc, bytes, dataFrom, to);
  open.readBytes += to - from;
}

function isWhole({ head, crc }: OpenRecord, lastRecord: number | null): boolean {
  if (lastRecord !== null && previousOf(head) !== lastRecord) return false;
  return crcResult(crcOf(crc, head, 0, CRC_AT)) === viewOf(head).getUint32(CRC_AT, true);
}

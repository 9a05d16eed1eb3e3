// Reads the events of a binary log of MariaDB: where each begins, when it was written, and whether it is whole.

/** Every file begins with these bytes. */
const MAGIC = [0xfe, 0x62, 0x69, 0x6e];

const HEADER_BYTES = 19;
const CHECKSUM_BYTES = 4;
const [TYPE_AT, LENGTH_AT, NEXT_AT, FLAGS_AT] = [4, 9, 13, 17];

/** Set while the server writes to the file, and taken away at its end, without another checksum. */
const IN_USE = 1;

const QUERY = 2;
const FORMAT_DESCRIPTION = 15;
const XID = 16;
const XA_PREPARE = 38;
const GTID = 162;

/** A group of one statement, which no commit ends. */
const STANDALONE = 1;
const GTID_FLAGS_AT = HEADER_BYTES + 12;
/** Session, seconds, length of the database's name, error, length of variables. */
const QUERY_HEADER_BYTES = 13;

/** Statements that only lead up to the statement of a standalone group: variables, random seeds, comments. */
const LEADING = new Set([5, 13, 14, 29, 160]);

/** The beginning of a file, or of a group: all that one commit wrote. */
export interface LogMark {
  /** The byte that it begins at. */
  from: number;
  /** When its last statement began, in seconds since 1970. */
  atSeconds: number;
}

/** What a file has. */
export interface ScannedFile {
  /** The file's own mark, and that of each group, in their order. */
  marks: LogMark[];
  /** The end of the last whole event. */
  eventEnd: number;
  /** The end of the last whole group; later bytes belong to a commit that was never acknowledged. */
  groupEnd: number;
  /** The byte at which the file is damaged; null when it is sound, also when its last event is cut short. */
  damagedAt: number | null;
}

/** The second at which a file was begun; null when its first event is not there. */
export function startOfFile(bytes: Uint8Array): number | null {
  if (bytes.length < MAGIC.length + HEADER_BYTES || !hasMagic(bytes)) return null;
  return viewOf(bytes).getUint32(MAGIC.length, true);
}

/** Reads a file part by part, from its beginning. */
export class FileScan {
  readonly scanned: ScannedFile = { marks: [], eventEnd: 0, groupEnd: 0, damagedAt: null };
  /** What was read and not understood yet: the beginning of an event. */
  #rest: Uint8Array = new Uint8Array();
  #group: "none" | "standalone" | "transaction" = "none";

  push(part: Uint8Array): void {
    const { scanned } = this;
    if (scanned.damagedAt !== null) return;
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    const used = this.#read(bytes, viewOf(bytes), scanned.eventEnd);
    this.#rest = bytes.slice(used);
  }

  /** @param base the place of the first byte in the file. @returns how many bytes are understood. */
  #read(bytes: Uint8Array, view: DataView, base: number): number {
    const { scanned } = this;
    let from = base === 0 ? this.#begin(bytes) : 0;
    while (scanned.damagedAt === null && scanned.eventEnd > 0 && from + HEADER_BYTES <= bytes.length) {
      const to = from + view.getUint32(from + LENGTH_AT, true);
      const isSized = to >= from + HEADER_BYTES + CHECKSUM_BYTES;
      if (!isSized || view.getUint32(from + NEXT_AT, true) !== base + to) scanned.damagedAt = base + from;
      if (scanned.damagedAt !== null || to > bytes.length) break;
      if (!hasChecksum(bytes, view, from, to)) scanned.damagedAt = base + from;
      else this.#take(bytes, view, { from, to, base });
      from = to;
    }
    return from;
  }

  /** @returns how many bytes the file begins with before its first event. */
  #begin(bytes: Uint8Array): number {
    if (bytes.length < MAGIC.length) return 0;
    if (!hasMagic(bytes)) this.scanned.damagedAt = 0;
    this.scanned.eventEnd = this.scanned.groupEnd = MAGIC.length;
    return MAGIC.length;
  }

  #take(
    bytes: Uint8Array,
    view: DataView,
    { from, to, base }: { from: number; to: number; base: number },
  ): void {
    const { scanned } = this;
    const type = bytes[from + TYPE_AT] ?? 0;
    if (type === GTID || type === FORMAT_DESCRIPTION)
      scanned.marks.push({ from: base + from, atSeconds: view.getUint32(from, true) });
    if (type === GTID)
      this.#group = ((bytes[from + GTID_FLAGS_AT] ?? 0) & STANDALONE) === 0 ? "transaction" : "standalone";
    else if (this.#group === "standalone" && !LEADING.has(type)) this.#group = "none";
    else if (this.#group === "transaction" && endsTransaction(bytes, view, from, to)) this.#group = "none";
    scanned.eventEnd = base + to;
    if (this.#group === "none") scanned.groupEnd = base + to;
  }
}

function endsTransaction(bytes: Uint8Array, view: DataView, from: number, to: number): boolean {
  const type = bytes[from + TYPE_AT];
  if (type === XID || type === XA_PREPARE) return true;
  if (type !== QUERY) return false;
  const body = from + HEADER_BYTES;
  const nameLength = bytes[body + 8] ?? 0;
  const variablesLength = view.getUint16(body + 11, true);
  const text = body + QUERY_HEADER_BYTES + variablesLength + nameLength + 1;
  const statement = Buffer.from(bytes.subarray(text, to - CHECKSUM_BYTES)).toString("latin1");
  return statement === "COMMIT" || statement === "ROLLBACK";
}

function hasChecksum(bytes: Uint8Array, view: DataView, from: number, to: number): boolean {
  const end = to - CHECKSUM_BYTES;
  const isInUse =
    bytes[from + TYPE_AT] === FORMAT_DESCRIPTION && ((bytes[from + FLAGS_AT] ?? 0) & IN_USE) !== 0;
  const event = isInUse ? bytes.slice(from, end) : bytes.subarray(from, end);
  if (isInUse) event[FLAGS_AT] = (event[FLAGS_AT] ?? 0) & ~IN_USE;
  return Bun.hash.crc32(event) === view.getUint32(end, true);
}

function hasMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

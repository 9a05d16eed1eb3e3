// Collects the result of a statement within its bounds.
import { ANSWER_BYTES, CELL_BYTES, CELL_PLACE_BYTES, MAX_MESSAGE_CHARACTERS, MAX_NOTICES } from "./limits.ts";
import type { Wire } from "./wire.ts";

export interface Column {
  name: string;
  /** The type as its engine calls it. */
  type: string;
}

/** A message of the engine beside the result. */
export interface Notice {
  severity: string;
  code: string;
  message: string;
}

/** A cell of which the result has the beginning only; rows and columns count from 0. */
interface CutCell {
  row: number;
  column: number;
  /** The length of the whole cell; null for a cell that was not reached. */
  bytes: number | null;
}

/** The part of a connection that a cell is read from. */
type CellSource = Pick<Wire, "read" | "skip">;

export class Result {
  columns: Column[] = [];
  readonly rows: (string | null)[][] = [];
  readonly notices: Notice[] = [];
  readonly cutCells: CutCell[] = [];
  /** What the engine did, such as `SELECT`; null where it does not say. */
  command: string | null = null;
  /** The rows that it found or changed; null where it does not say. */
  rowCount: number | null = null;
  /** Whether rows are left out. */
  isTruncated = false;
  readonly #maxRows: number;
  #bytes = 0;
  #row: (string | null)[] = [];

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** Whether a further row would be left out. */
  get isFull(): boolean {
    return this.rows.length >= this.#maxRows || this.#bytes >= ANSWER_BYTES;
  }

  beginRow(): void {
    this.#row = [];
    this.rows.push(this.#row);
  }

  addNull(): void {
    this.#bytes += CELL_PLACE_BYTES;
    this.#row.push(null);
  }

  /**
   * Reads a cell of so many bytes, and keeps its beginning.
   * @param toText of the kept bytes.
   */
  async readCell(source: CellSource, length: number, toText: (bytes: Buffer) => string): Promise<void> {
    const kept = Math.min(length, CELL_BYTES);
    const bytes = kept === 0 ? Buffer.alloc(0) : await source.read(kept);
    const text = toText(bytes);
    this.#bytes += CELL_PLACE_BYTES + text.length;
    if (kept < length) this.cutCells.push({ ...this.#place, bytes: length });
    this.#row.push(text);
    if (kept < length) await source.skip(length - kept);
  }

  addNotice({ severity, code, message }: Notice): void {
    if (this.notices.length >= MAX_NOTICES) return;
    this.notices.push({ severity, code, message: message.slice(0, MAX_MESSAGE_CHARACTERS) });
  }

  /** Fills up the row in which reading ended. */
  endEarly(): void {
    this.isTruncated = true;
    while (this.rows.length > 0 && this.#row.length < this.columns.length) {
      this.cutCells.push({ ...this.#place, bytes: null });
      this.#row.push("");
    }
  }

  get #place(): { row: number; column: number } {
    return { row: this.rows.length - 1, column: this.#row.length };
  }
}

/** Text without the character that a cut has left incomplete at its end. */
export function textOf(bytes: Buffer): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, {
    stream: bytes.length >= CELL_BYTES,
  });
}

/** @param bytes written in hexadecimal digits, which take twice the room. */
export function hexOf(bytes: Buffer): string {
  return `0x${bytes.toString("hex").toUpperCase()}`;
}

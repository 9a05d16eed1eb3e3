// The headers of the pages that Postgres' log consists of.

export const PAGE_BYTES = 8_192;
const SHORT_HEADER_BYTES = 24;
const LONG_HEADER_BYTES = 40;
const INFO_AT = 2;
const ADDRESS_AT = 8;
const REST_AT = 16;
const CONTINUES_RECORD = 0x0001;
const HAS_LONG_HEADER = 0x0002;
const OVERWRITES_RECORD = 0x0008;

interface PageHeader {
  headerBytes: number;
  /** The page begins with the rest of the record before. */
  continuesRecord: boolean;
  /** The record before was never finished: a crash cut it off, and the log goes on here. */
  overwritesRecord: boolean;
  /** The bytes of the record before that are still to come. */
  restBytes: number;
}

/** The header of the page at an offset of the bytes. */
export function pageHeader(view: DataView, offset: number): PageHeader {
  const info = view.getUint16(offset + INFO_AT, true);
  return {
    headerBytes: (info & HAS_LONG_HEADER) === 0 ? SHORT_HEADER_BYTES : LONG_HEADER_BYTES,
    continuesRecord: (info & CONTINUES_RECORD) !== 0,
    overwritesRecord: (info & OVERWRITES_RECORD) !== 0,
    restBytes: view.getUint32(offset + REST_AT, true),
  };
}

/**
 * Where the pages end that belong to this part of the log. What follows is zero, or the past of a file that Postgres
 * uses again under a new name.
 * @param position of the first byte, at which a page begins.
 * @returns the number of bytes up to there, a multiple of a page.
 */
export function writtenBytes(bytes: Uint8Array, position: number): number {
  const view = viewOf(bytes);
  let end = 0;
  while (end + PAGE_BYTES <= bytes.length && pageAddress(view, end) === position + end) end += PAGE_BYTES;
  return end;
}

/** The position that a page says it is at; NaN for a page that was never written. */
function pageAddress(view: DataView, offset: number): number {
  if (view.getUint16(offset, true) === 0) return Number.NaN;
  return view.getUint32(offset + ADDRESS_AT + 4, true) * 2 ** 32 + view.getUint32(offset + ADDRESS_AT, true);
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The beginning of the page that a position lies in. */
export function pageStart(position: number): number {
  return position - (position % PAGE_BYTES);
}

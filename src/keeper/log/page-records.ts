// Passes over records that lie within one page, as most do: a tight loop of numbers, which copies nothing and makes no
// objects. Whatever is not plainly a whole record is left to the reader of records.
import { CRC_START, crcOf, crcResult, uint32At } from "./crc32c.ts";
import { PAGE_BYTES } from "./page.ts";
import {
  CRC_AT,
  HEADER_BYTES,
  LOG_MANAGER,
  MANAGER_AT,
  PREVIOUS_AT,
  TRANSACTION_MANAGER,
  transactionEndOf,
} from "./record-header.ts";

const ALIGNMENT = 8;

/** Whole records that follow one another. */
interface PassedRecords {
  /** Where the record after them begins. */
  at: number;
  /** The position of the latest whole record; null without any. */
  last: number | null;
  /** The latest time of a commit or an abort in microseconds since 1970; null without any. */
  transactionEnd: number | null;
}

/**
 * Passes over the proved records of a page from an offset on, at which a record begins.
 * @param base the position of the first byte. @param lastRecord the position of the record before.
 */
export function passRecords(
  bytes: Uint8Array,
  base: number,
  from: number,
  lastRecord: number,
): PassedRecords {
  const pageEnd = from - (from % PAGE_BYTES) + PAGE_BYTES;
  const passed: PassedRecords = { at: from, last: null, transactionEnd: null };
  let previous = lastRecord;
  let at = from;
  while (at + HEADER_BYTES <= pageEnd) {
    const end = at + uint32At(bytes, at);
    const manager = bytes[at + MANAGER_AT];
    // A record of the log itself may end its segment.
    if (end < at + HEADER_BYTES || end > pageEnd || manager === LOG_MANAGER) break;
    if (positionAt(bytes, at + PREVIOUS_AT) !== previous) break;
    const crc = crcOf(crcOf(CRC_START, bytes, at + HEADER_BYTES, end), bytes, at, at + CRC_AT);
    if (crcResult(crc) !== uint32At(bytes, at + CRC_AT)) break;
    if (manager === TRANSACTION_MANAGER) noteEnd(passed, bytes.subarray(at, end));
    previous = base + at;
    at = end + ((ALIGNMENT - (end % ALIGNMENT)) % ALIGNMENT);
  }
  if (at > from) Object.assign(passed, { at, last: previous });
  return passed;
}

function positionAt(bytes: Uint8Array, at: number): number {
  return uint32At(bytes, at + 4) * 2 ** 32 + uint32At(bytes, at);
}

function noteEnd(passed: PassedRecords, record: Uint8Array): void {
  const time = transactionEndOf(record, record.length);
  if (time !== null) passed.transactionEnd = Math.max(time, passed.transactionEnd ?? 0);
}

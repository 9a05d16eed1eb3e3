// What the header of a record in Postgres' log says, and the time of a commit or an abort.
import { viewOf } from "./page.ts";

export const HEADER_BYTES = 24;
export const PREVIOUS_AT = 8;
const INFO_AT = 16;
export const MANAGER_AT = 17;
/** Where a record has its checksum, which is that of its data and then of the header up to here. */
export const CRC_AT = 20;
export const LOG_MANAGER = 0;
export const TRANSACTION_MANAGER = 1;
const SWITCH = 0x40;
const SWITCH_MASK = 0xf0;
const TRANSACTION_MASK = 0x70;
/** Commit, abort, and both of a prepared transaction. */
const TRANSACTION_ENDS = new Set([0x00, 0x20, 0x30, 0x40]);

/** Parts that may stand before a record's own data, and their bytes. */
const PARTS_BEFORE_DATA = new Map([
  [0xfd, 3],
  [0xfc, 5],
]);
const SHORT_DATA = 0xff;
const LONG_DATA = 0xfe;
const TIME_BYTES = 8;
const MICROSECONDS_FROM_1970_TO_2000 = 946_684_800_000_000;

/** Where the record before begins. */
export function previousOf(head: Uint8Array): number {
  const view = viewOf(head);
  return view.getUint32(PREVIOUS_AT + 4, true) * 2 ** 32 + view.getUint32(PREVIOUS_AT, true);
}

/** After such a record the rest of its segment stays empty. */
export function isSwitch(head: Uint8Array): boolean {
  return head[MANAGER_AT] === LOG_MANAGER && ((head[INFO_AT] as number) & SWITCH_MASK) === SWITCH;
}

/**
 * When a transaction ended, in microseconds since 1970; null for every other record.
 * @param head the first bytes of the record. @param recordBytes its length.
 */
export function transactionEndOf(head: Uint8Array, recordBytes: number): number | null {
  if (head[MANAGER_AT] !== TRANSACTION_MANAGER) return null;
  if (!TRANSACTION_ENDS.has((head[INFO_AT] as number) & TRANSACTION_MASK)) return null;
  let at = HEADER_BYTES;
  for (let bytes = PARTS_BEFORE_DATA.get(head[at] ?? 0); bytes !== undefined;) {
    at += bytes;
    bytes = PARTS_BEFORE_DATA.get(head[at] ?? 0);
  }
  if (head[at] !== SHORT_DATA && head[at] !== LONG_DATA) return null;
  at += head[at] === SHORT_DATA ? 2 : 5;
  if (at + TIME_BYTES > Math.min(recordBytes, head.length)) return null;
  return Number(viewOf(head).getBigInt64(at, true)) + MICROSECONDS_FROM_1970_TO_2000;
}

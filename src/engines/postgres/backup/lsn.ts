// Positions in the log of a Postgres, and the names of its segments.

/** A page of the log begins with a header of at most so many bytes. */
const PAGE_BYTES = 8_192n;
const PAGE_HEADER_BYTES = 40n;

/** @param text such as `0/3000148`. */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) throw new Error(`not a position in a log: ${text}`);
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function lsnText(lsn: bigint): string {
  return `${hex(lsn >> 32n, 0)}/${hex(lsn & 0xffff_ffffn, 0)}`;
}

/** The same position, of which that right after the header of a page stands for the beginning of the page. */
export function pageOf(position: bigint): bigint {
  const inPage = position % PAGE_BYTES;
  return inPage <= PAGE_HEADER_BYTES ? position - inPage : position;
}

/** The segment that holds the byte at a position, counted from the first of all. */
export function segmentNumber(lsn: bigint, segmentBytes: number): bigint {
  return lsn / BigInt(segmentBytes);
}

/** The name of a segment's file. */
export function segmentName(timeline: number, number: bigint, segmentBytes: number): string {
  const perFile = 0x1_0000_0000n / BigInt(segmentBytes);
  return hex(BigInt(timeline), 8) + hex(number / perFile, 8) + hex(number % perFile, 8);
}

/** The names of the segments that hold the positions from the first to the last, both included. */
export function segmentsOf(
  timeline: number,
  { first, last }: { first: bigint; last: bigint },
  segmentBytes: number,
): string[] {
  const names: string[] = [];
  const end = segmentNumber(last, segmentBytes);
  for (let number = segmentNumber(first, segmentBytes); number <= end; number += 1n)
    names.push(segmentName(timeline, number, segmentBytes));
  return names;
}

function hex(value: bigint, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}

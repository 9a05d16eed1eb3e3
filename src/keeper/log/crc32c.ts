// CRC-32C, the checksum of the records in Postgres' log, eight bytes at a time.

const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;

/** Table n, from entry 256 n on, has the checksums of a byte with n zero bytes after it. */
const tables = makeTables();

/** The state before the first byte. */
export const CRC_START = -1;

/** The state after more bytes. */
export function crcOf(state: number, bytes: Uint8Array, from: number, to: number): number {
  let crc = state | 0;
  let at = from;
  for (; at + SLICES <= to; at += SLICES) {
    crc ^= word(bytes, at);
    crc =
      entry(7, crc) ^
      entry(6, crc >>> 8) ^
      entry(5, crc >>> 16) ^
      entry(4, crc >>> 24) ^
      entry(3, bytes[at + 4]) ^
      entry(2, bytes[at + 5]) ^
      entry(1, bytes[at + 6]) ^
      entry(0, bytes[at + 7]);
  }
  for (; at < to; at += 1) crc = entry(0, crc ^ (bytes[at] as number)) ^ (crc >>> 8);
  return crc;
}

/** The checksum of all bytes so far. */
export function crcResult(state: number): number {
  return (state ^ 0xffffffff) >>> 0;
}

/** The number that four bytes are, the lowest first. A view of the bytes would say the same, but is read far slower. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return word(bytes, at) >>> 0;
}

function word(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

function entry(table: number, value: number | undefined): number {
  return tables[(table << 8) | ((value as number) & 0xff)] as number;
}

function makeTables(): Int32Array {
  const made = new Int32Array(SLICES * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
    made[byte] = crc;
  }
  for (let at = 256; at < made.length; at += 1) {
    const before = made[at - 256] as number;
    made[at] = (made[before & 0xff] as number) ^ (before >>> 8);
  }
  return made;
}

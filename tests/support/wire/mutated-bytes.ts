// Bytes for tests of hostile clients, from random numbers of a fixed seed.

/** At least one byte and at most so many. @param random gives numbers from 0 up to 1. */
export function randomBytes(random: () => number, most: number): Buffer {
  return Buffer.from(
    Array.from({ length: 1 + Math.floor(random() * most) }, () => Math.floor(random() * 256)),
  );
}

/** Some bytes changed, left out, doubled or cut off. */
export function mutated(random: () => number, bytes: Buffer): Buffer {
  let changed = Buffer.from(bytes);
  const times = 1 + Math.floor(random() * 4);
  for (let i = 0; i < times; i++) {
    const position = Math.floor(random() * changed.length);
    const length = Math.floor(random() * 8);
    const [before, after] = [changed.subarray(0, position), changed.subarray(position + length)];
    const kind = Math.floor(random() * 4);
    if (kind === 0) changed = Buffer.concat([before, after]);
    else if (kind === 1) changed = Buffer.concat([before, randomBytes(random, 8), after]);
    else if (kind === 2) changed = Buffer.concat([before, changed.subarray(position)]);
    else changed = Buffer.concat([changed.subarray(0, position + length), changed.subarray(position)]);
  }
  return changed;
}

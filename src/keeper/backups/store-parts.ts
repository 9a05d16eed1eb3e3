// Stores the parts of a stream, a few at once, since a slow target takes long for each.
import type { Places } from "../../lib/places.ts";
import { partsOf } from "./parts.ts";

/** A slow target takes so many parts of a stream at once. */
const PARTS_AT_ONCE = 3;

/** Stores a part. @returns how many bytes it takes at the target. */
type StorePart = (index: number, part: Uint8Array) => Promise<number>;

/** The parts of a stream, with what each takes at the target. */
interface StoredParts {
  plainBytes: number;
  sizes: number[];
}

/**
 * Stores all parts of a stream. Each part, from before it is read, has one of the places that all streams share.
 * @throws the first failure, when no part is on its way any more.
 */
export async function storeParts(
  stream: AsyncIterable<Uint8Array>,
  partBytes: number,
  places: Places,
  store: StorePart,
): Promise<StoredParts> {
  const parts = partsOf(stream, partBytes);
  const stored: StoredParts = { plainBytes: 0, sizes: [] };
  const failures: unknown[] = [];
  let count = 0;
  const storeNext = async (): Promise<boolean> => {
    if (failures.length > 0) return false;
    // A generator answers in the order in which it was asked.
    const next = await parts.next();
    if (next.done === true) return false;
    const index = count;
    count += 1;
    stored.plainBytes += next.value.length;
    stored.sizes[index] = await store(index, next.value);
    return true;
  };
  const storeAll = async () => {
    try {
      while (await places.run(storeNext));
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, storeAll));
  if (failures.length === 0) return stored;
  await parts.return(undefined).catch(() => undefined);
  throw failures[0];
}

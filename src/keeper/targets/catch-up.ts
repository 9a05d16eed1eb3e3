// Brings a target that was away up to date: deletes what was deleted meanwhile, and copies what it lacks.
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { ARCHIVES } from "../names.ts";
import { MissingObject, type StoredObject } from "../object-store.ts";
import type { KeptTarget } from "./kept-target.ts";
import type { Throttle } from "./throttle.ts";

/** Objects that say that others are there, and so come last: also pieces of a log that have its watermark. */
const LAST = /\/(?:backup|watermark)\.json$|\.partial(?:\.[0-9A-F]+){6}$/;

/** Objects that are replaced, so that a copy of the same name may be an earlier one. */
const CHANGING = /\/(?:watermark|archive)\.json$/;

/** Each takes up to the size of a part in memory. */
const COPIES_AT_ONCE = 3;

interface FoundObject {
  name: string;
  source: KeptTarget;
}

/**
 * Copies sealed objects as they are, since all targets have the same key.
 * @returns how many objects were copied.
 */
export async function catchUp(kept: KeptTarget, all: KeptTarget[], throttle: Throttle): Promise<number> {
  const deletions = kept.notes.deletions;
  for (const name of deletions) await kept.use((target) => target.delete(name));
  kept.notes.dropDeletions(deletions);
  const others = all.filter((other) => other !== kept && other.isUsable);
  if (others.length === 0) return 0;
  const there = new Map((await listed(kept)).map(({ name, storedBytes }) => [name, storedBytes]));
  let copied = 0;
  const copyIfMissing = async ({ name, source }: FoundObject) => {
    const isStale = CHANGING.test(name) && kept !== all[0];
    if (there.has(name) && !isStale) return;
    if (await copy(name, source, kept, throttle)) copied += 1;
  };
  const found = await objectsOf(others);
  const { first = [], last = [] } = Object.groupBy(found, ({ name }) => (LAST.test(name) ? "last" : "first"));
  await forEachLimited(first, COPIES_AT_ONCE, copyIfMissing);
  for (const object of last) await copyIfMissing(object);
  return copied;
}

async function listed(kept: KeptTarget): Promise<StoredObject[]> {
  return await kept.list(ARCHIVES);
}

/** Each object with the first target that has it, in the order of their names. */
async function objectsOf(others: KeptTarget[]): Promise<FoundObject[]> {
  const sources = new Map<string, KeptTarget>();
  for (const other of others) {
    for (const { name } of await listed(other)) {
      if (!sources.has(name)) sources.set(name, other);
    }
  }
  return [...sources].map(([name, source]) => ({ name, source })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @returns false when the object was deleted meanwhile. */
async function copy(
  name: string,
  source: KeptTarget,
  kept: KeptTarget,
  throttle: Throttle,
): Promise<boolean> {
  let copied = await readIfThere(name, source);
  if (copied === null) return false;
  for (;;) {
    const sealed = copied;
    await throttle.take(sealed.length);
    await kept.use((target) => target.write(name, sealed));
    if (!LAST.test(name)) return true;
    // It may have been deleted or replaced while it was copied.
    const current = await readIfThere(name, source);
    if (current === null) {
      await kept.use((target) => target.delete(name));
      return false;
    }
    if (Buffer.compare(current, sealed) === 0) return true;
    copied = current;
  }
}

async function readIfThere(name: string, source: KeptTarget): Promise<Uint8Array | null> {
  return await source.read(name).catch((error: unknown) => {
    if (error instanceof MissingObject) return null;
    throw error;
  });
}

// Brings a target that was away up to date: copies what it lacks, and deletes what was deleted meanwhile.
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { ARCHIVES } from "../names.ts";
import { MissingObject, type StoredObject } from "../object-store.ts";
import type { Sealer } from "../envelope.ts";
import type { KeptTarget } from "./kept-target.ts";
import type { Deletion } from "./target-notes.ts";
import type { Throttle } from "./throttle.ts";

/** Objects that say that others are there, and so come last: also pieces of a log that have its watermark. */
const LAST = /\/(?:backup|watermark)\.json$|\.partial(?:\.[0-9A-F]+){6}$/;

/** Objects that are replaced, so that a copy of the same name may be an earlier one. */
const CHANGING = /\/(?:watermark|archive)\.json$/;

const WATERMARK = "/watermark.json";

/** A part of a segment of a log, which the segment replaces, or a later piece. */
const PIECE = /\.partial(?:\.|$)/;

/** Each takes up to the size of a part in memory. */
const COPIES_AT_ONCE = 3;
const DELETES_AT_ONCE = 8;

/** A target that is caught up, and what with. */
interface CatchingUp {
  kept: KeptTarget;
  /** The other targets that answer. */
  others: KeptTarget[];
  /** Whether all other targets do. */
  areAllThere: boolean;
  /** Whether it is the preferred target for reading. */
  isFirst: boolean;
  sealer: Sealer;
  throttle: Throttle;
}

/**
 * Copies sealed objects as they are, since all targets have the same key. Pieces of a log are deleted last: what has
 * replaced them may be among the objects that are copied, or at a target that is away.
 * @returns how many objects were copied.
 */
export async function catchUp(catchingUp: CatchingUp): Promise<number> {
  const { kept, others, areAllThere, throttle } = catchingUp;
  const found = await objectsOf(others);
  const { first = [], last = [] } = Object.groupBy(kept.notes.deletions, ({ name }) =>
    PIECE.test(name) && !found.has(name) ? "last" : "first",
  );
  await deleteNoted(kept, first);
  const there = new Set(found.size === 0 ? [] : (await listed(kept)).map(({ name }) => name));
  let copied = 0;
  const copyIfMissing = async (name: string) => {
    const sources = found.get(name) ?? [];
    for (const source of name.endsWith(WATERMARK) ? sources : sources.slice(0, 1)) {
      if (there.has(name) && !(await isReplacement(catchingUp, name, source))) continue;
      if (await copy(name, source, kept, throttle)) copied += 1;
      there.add(name);
    }
  };
  const names = Object.groupBy([...found.keys()].sort(), (name) => (LAST.test(name) ? "last" : "first"));
  await forEachLimited(names.first ?? [], COPIES_AT_ONCE, copyIfMissing);
  for (const name of names.last ?? []) await copyIfMissing(name);
  if (areAllThere) await deleteNoted(kept, last);
  return copied;
}

/** Carries out noted deletions at a target. An object that was stored again after its note stays. */
export async function deleteNoted(kept: KeptTarget, deletions: Deletion[]): Promise<void> {
  await forEachLimited(deletions, DELETES_AT_ONCE, async (deletion) => {
    await kept.use("delete", async (target) => {
      if (kept.notes.stands(deletion)) await target.delete(deletion.name);
    });
  });
  kept.notes.dropDeletions(deletions);
}

async function listed(kept: KeptTarget): Promise<StoredObject[]> {
  return await kept.list(ARCHIVES);
}

/** The targets that have each object. */
async function objectsOf(others: KeptTarget[]): Promise<Map<string, KeptTarget[]>> {
  const sources = new Map<string, KeptTarget[]>();
  for (const other of others) {
    for (const { name } of await listed(other)) sources.set(name, [...(sources.get(name) ?? []), other]);
  }
  return sources;
}

/** Whether another target has an object that is replaced now and then in a later form. */
async function isReplacement(
  { kept, isFirst, sealer }: CatchingUp,
  name: string,
  source: KeptTarget,
): Promise<boolean> {
  if (!CHANGING.test(name)) return false;
  if (!name.endsWith(WATERMARK)) return !isFirst;
  const theirs = await readIfThere(name, source);
  const own = theirs === null ? null : await readIfThere(name, kept);
  if (theirs === null || own === null || Buffer.compare(own, theirs) === 0) return false;
  return (await countOf(sealer, name, theirs)) > (await countOf(sealer, name, own));
}

/** The count of a watermark, which grows; a damaged watermark counts less than all others. */
async function countOf(sealer: Sealer, name: string, sealed: Uint8Array): Promise<number> {
  try {
    const { count = 0 } = JSON.parse(new TextDecoder().decode(await sealer.open(name, sealed))) as {
      count?: number;
    };
    return count;
  } catch {
    return -1;
  }
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
    await kept.use("write", (target) => target.write(name, sealed));
    if (!LAST.test(name)) return true;
    // It may have been deleted or replaced while it was copied.
    const current = await readIfThere(name, source);
    if (current === null) {
      await kept.use("delete", (target) => target.delete(name));
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

// Deletes all objects of an archive that is marked for deletion.
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { archivePrefix, deletionObject } from "../names.ts";
import type { TargetSet } from "../targets/target-set.ts";

const DELETES_AT_ONCE = 4;

/** Objects that say that others are there. */
const SAYS_COMPLETE = /\/(?:backup|watermark)\.json$/;

/** The mark stays while a target is away, which may have more. */
export async function deleteMarked(store: TargetSet, id: string): Promise<void> {
  const mark = deletionObject(id);
  const prefix = archivePrefix(id);
  const objects = await store.list(prefix);
  const { first = [], later = [] } = Object.groupBy(
    objects.map(({ name }) => name).filter((name) => name !== mark),
    (name) => (SAYS_COMPLETE.test(name) ? "first" : "later"),
  );
  for (const names of [first, later])
    await forEachLimited(names, DELETES_AT_ONCE, (name) => store.delete(name));
  if (await store.hasNothingBut(mark, prefix)) await store.delete(mark);
}

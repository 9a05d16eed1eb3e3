// Reads every object of every target back, and names each that is damaged.
import { backupInfoSchema, type CheckLine } from "../contracts/keeper.ts";
import { readJsonAs } from "../contracts/read.ts";
import { messageOf } from "../lib/errors.ts";
import type { Sealer } from "./envelope.ts";
import { ARCHIVES, backupObject, ownerOf, partObject } from "./names.ts";
import { MissingObject } from "./object-store.ts";
import type { KeptTarget } from "./targets/kept-target.ts";
import type { Throttle } from "./targets/throttle.ts";

const PROGRESS_INTERVAL_MS = 1_000;

/** Lines as the check goes on; the last is the sum. */
export async function* checkTargets(
  targets: KeptTarget[],
  sealer: Sealer,
  throttle: Throttle,
): AsyncGenerator<CheckLine> {
  const sums = { objects: 0, bytes: 0, faults: 0 };
  let shownAt = Date.now();
  for (const kept of targets) {
    const listing = await listed(kept);
    if (typeof listing === "string") {
      sums.faults += 1;
      yield { type: "fault", target: kept.target.name, name: "", message: listing };
      continue;
    }
    const names = new Set(listing.map(({ name }) => name));
    for (const { name, storedBytes } of listing) {
      await throttle.take(storedBytes);
      sums.objects += 1;
      sums.bytes += storedBytes;
      for (const fault of await faultsOf(kept, name, names, sealer)) {
        sums.faults += 1;
        yield { type: "fault", target: kept.target.name, ...fault };
      }
      if (Date.now() - shownAt < PROGRESS_INTERVAL_MS) continue;
      shownAt = Date.now();
      yield { type: "progress", objects: sums.objects, bytes: sums.bytes };
    }
  }
  yield { type: "sum", ...sums };
}

/** The objects of a target, or why it cannot be listed. */
async function listed(kept: KeptTarget) {
  try {
    return await kept.list(ARCHIVES);
  } catch (error) {
    return kept.lastError ?? messageOf(error);
  }
}

interface Fault {
  name: string;
  message: string;
}

/** None for an object that is as it was stored, or that was deleted since the listing. */
async function faultsOf(
  kept: KeptTarget,
  name: string,
  names: ReadonlySet<string>,
  sealer: Sealer,
): Promise<Fault[]> {
  try {
    const sealed = await kept.read(name);
    const plain = await sealer.open(name, sealed);
    const missing = needed(name, plain).filter((other) => !names.has(other));
    return missing.map((other) => ({ name: other, message: new MissingObject(other).message }));
  } catch (error) {
    return error instanceof MissingObject ? [] : [{ name, message: messageOf(error) }];
  }
}

/** The objects without which this object is worth nothing: the parts of a backup. */
function needed(name: string, plain: Uint8Array): string[] {
  const owner = ownerOf(name);
  if (owner === null || owner.backup === null || name !== backupObject(owner.archive, owner.backup))
    return [];
  const { archive, id, partCount } = readJsonAs(backupInfoSchema, new TextDecoder().decode(plain), "It");
  return Array.from({ length: partCount }, (_, index) => partObject(archive, id, index));
}

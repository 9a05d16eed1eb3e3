// Copies the driver's measurements of storage into the store.
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../lib/log.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Database } from "../../store/database.ts";
import { changedStorage, updateStorage } from "./allocations.ts";

const INTERVAL_MS = 10_000;

interface StorageContext {
  db: Database;
  driver: Driver;
}

/** Polls the driver until the signal is aborted. */
export async function followStorage(context: StorageContext, signal: AbortSignal, log: Log): Promise<void> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      cursor = await recordStorage(context, cursor);
    } catch (error) {
      // Other code reports a driver or a store that is away; with the same cursor no change is missed.
      log.debug({ error }, "the use of the disk could not be recorded");
    }
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Records the changes since the reading with this cursor. One statement finds all instances whose recorded storage is
 * still right, as after a start. Each other instance has a transaction of its own, so that a create waits for one
 * instance at most.
 * @returns the cursor for the next call.
 */
export async function recordStorage(
  { db, driver }: StorageContext,
  cursor: string | undefined,
): Promise<string> {
  const reading = await driver.storage(cursor);
  for (const { id, bytes } of await changedStorage(db, reading.bytes))
    await db.begin((tx) => updateStorage(tx, id, bytes));
  return reading.cursor;
}

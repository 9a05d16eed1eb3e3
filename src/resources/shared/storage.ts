// Keeps in the store what resources take on the disk, as the driver measures it.
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

/** Asks the driver again and again until the signal is aborted. */
export async function followStorage(context: StorageContext, signal: AbortSignal, log: Log): Promise<void> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      cursor = await recordStorage(context, cursor);
    } catch (error) {
      // A driver or a store that is away is told of elsewhere; with the same cursor nothing is missed.
      log.debug({ error }, "the use of the disk could not be recorded");
    }
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Records what has changed since the reading with this cursor. What is recorded already is found for all at once, as after a
 * start; each other resource is a statement of its own, so that no create waits for more than one.
 * @returns the cursor for the next time.
 */
export async function recordStorage(
  { db, driver }: StorageContext,
  cursor: string | undefined,
): Promise<string> {
  const reading = await driver.storage(cursor);
  for (const { id, bytes } of await changedStorage(db, reading.bytes)) await updateStorage(db, id, bytes);
  return reading.cursor;
}

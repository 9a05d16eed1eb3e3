// Has the backups of the store that Pilvi runs itself be restored for a check, as those of resources are.
import { setTimeout as sleep } from "node:timers/promises";
import { STORE_ID } from "../../contracts/store-id.ts";
import { publicMessageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { ServedHost } from "../../resources/kind.ts";
import type { WatchedArchives } from "../../resources/shared/backups/archive-states.ts";
import {
  planStoreVerification,
  recordStoreVerification,
  storeVerification,
} from "../../resources/shared/backups/store-verification.ts";
import { shortPauseMs, verificationTarget } from "../../resources/shared/backups/verification-policy.ts";
import type { Database } from "../../store/database.ts";

/** How often a due verification is looked for. */
const LOOK_MS = 60_000;

/** What the store's backups are verified with. */
export interface StoreVerifierParts {
  db: Database;
  host: Pick<ServedHost, "driver"> & { archiveStates: WatchedArchives };
  /** The pause between two verifications; 0 for none at all. */
  intervalMs: number;
  log: Log;
}

/** Verifies what is due, until the signal is aborted. The row of the store knows when that is, also after a kill. */
export async function verifyStore(parts: StoreVerifierParts, signal: AbortSignal): Promise<void> {
  const { intervalMs, log } = parts;
  if (intervalMs === 0) return;
  while (!signal.aborted) {
    await pass(parts, signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ error }, "the backups of the store could not be looked at");
    });
    await sleep(Math.min(LOOK_MS, intervalMs), undefined, { signal }).catch(() => undefined);
  }
}

async function pass(parts: StoreVerifierParts, signal: AbortSignal): Promise<void> {
  const { db, host, intervalMs } = parts;
  const { dueInMs } = await noted(parts);
  if ((host.archiveStates.of(STORE_ID)?.backups.length ?? 0) === 0) return;
  if (dueInMs === null) await planStoreVerification(db, shortPauseMs(intervalMs));
  else if (dueInMs <= 0) await verifyOnce(parts, signal);
  await noted(parts);
}

/** Reads what is known, for all who show it. */
async function noted({ db, host }: StoreVerifierParts): ReturnType<typeof storeVerification> {
  const known = await storeVerification(db);
  host.archiveStates.noteVerification(STORE_ID, known.state);
  return known;
}

async function verifyOnce(
  { db, host, intervalMs, log }: StoreVerifierParts,
  signal: AbortSignal,
): Promise<void> {
  const { driver, archiveStates } = host;
  const { latest } = archiveStates.verificationOf(STORE_ID);
  const choice = { state: archiveStates.of(STORE_ID), latest, intervalMs, nowMs: Date.now() };
  const target = verificationTarget({ ...choice, random: Math.random });
  if (target === null) return await planStoreVerification(db, intervalMs);
  const found = await driver.verify(STORE_ID, target, signal).catch(async (error: unknown) => {
    if (signal.aborted) throw error;
    log.warn({ archive: STORE_ID, error }, "a restore could not be verified");
    const reason = publicMessageOf(error, "The restore could not be verified.");
    await planStoreVerification(db, shortPauseMs(intervalMs), reason);
  });
  if (found === undefined) return;
  if (found.faults.length > 0)
    log.error({ archive: STORE_ID, target, faults: found.faults }, "a verified restore found faults");
  await recordStoreVerification(db, found, intervalMs);
}

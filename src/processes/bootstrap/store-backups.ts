// The backups of the store that Pilvi runs itself: a lost machine must not take along what its resources are.
import { setTimeout as sleep } from "node:timers/promises";
import type { ArchiveState } from "../../contracts/keeper.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import type { Driver } from "../../drivers/driver.ts";
import { newId } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { BackupPolicy } from "../../resources/kind.ts";
import { keepFromMs, nextBackupMs } from "../../resources/shared/backups/policy.ts";

const POLICY: BackupPolicy = { keepsLog: true, isDaily: false, retentionDays: 7, startsAt: null };

/** How often the archive is looked at, from memory. */
const INTERVAL_MS = 3_000;

/** A start has better things to do than a backup, unless there are backups of resources, which are nothing without it. */
const FIRST_AFTER_MS = 60_000;

/** The pause after an attempt that failed. */
const RETRY_MS = 60_000;

/** What the backups of the store are made with. */
interface StoreBackupsParts {
  driver: Driver;
  /** All archives, as the driver reported them last. */
  archives(): Iterable<ArchiveState>;
  /** The backup of the store that was last restored without a fault; null without any. */
  verified(): string | null;
  log: Log;
}

/** Takes the backups that are due, and deletes those that are no longer kept, until the signal is aborted. */
export async function backUpStore(parts: StoreBackupsParts, signal: AbortSignal): Promise<void> {
  const { archives, log } = parts;
  const startedMs = Date.now();
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    await pause(INTERVAL_MS);
    const known = [...archives()];
    const isEarly = Date.now() - startedMs < FIRST_AFTER_MS;
    if (isEarly && !known.some(({ id, backups }) => id !== STORE_ID && backups.length > 0)) continue;
    if (signal.aborted || !isDue(known.find(({ id }) => id === STORE_ID) ?? null)) continue;
    try {
      await backUpOnce(parts, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, "the store could not be backed up");
      await pause(RETRY_MS);
    }
  }
}

/** What was seen last may be of before the latest backup, so the driver is asked again. */
async function backUpOnce({ driver, verified, log }: StoreBackupsParts, signal: AbortSignal): Promise<void> {
  if (!isDue(await driver.archive(STORE_ID))) return;
  const { storedBytes } = await driver.backUp(STORE_ID, newId("backup"), signal);
  log.info({ storedBytes }, "the store is backed up");
  const keepFrom = new Date(keepFromMs(POLICY, Date.now())).toISOString();
  // A backup that is known to be sound is worth more than newer ones that are not.
  const kept = verified();
  await driver.retain(STORE_ID, { keepFrom, keepBackups: kept === null ? [] : [kept] });
}

function isDue(state: ArchiveState | null): boolean {
  const nowMs = Date.now();
  return nextBackupMs({ policy: POLICY, state, latest: null, asleepSinceMs: null }, nowMs) <= nowMs;
}

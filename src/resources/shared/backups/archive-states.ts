// Remembers the states of archives, and copies what quotas need of them into the store.
import { setTimeout as sleep } from "node:timers/promises";
import type { ArchiveState } from "../../../contracts/keeper.ts";
import type { Log } from "../../../lib/log.ts";
import type { Database } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import type { ArchiveStates, ObservedStates, ServedHost, VerificationState } from "../../kind.ts";
import { archiveKey, ARCHIVES, recordArchiveBytes } from "./archives.ts";
import { LagAlarm } from "./lag-alarm.ts";
import { isLogLong, lacksBackup } from "./policy.ts";
import { takenAs } from "./silence.ts";
import { NEVER_VERIFIED, verificationsSince } from "./verifications.ts";

const INTERVAL_MS = 3_000;

/** The archives of one driver, as it reported them last; while it is silent, their logs lag behind more and more. */
export class WatchedArchives implements ArchiveStates {
  readonly #observedStates: Pick<ObservedStates, "of">;
  readonly #now: () => number;
  #states = new Map<string, ArchiveState>();
  #receivedAtMs = 0;
  readonly #verifications = new Map<string, VerificationState>();

  /** @param now the time in milliseconds. */
  constructor(observedStates: Pick<ObservedStates, "of">, now = Date.now) {
    this.#observedStates = observedStates;
    this.#now = now;
  }

  of(id: string): ArchiveState | undefined {
    const state = this.#states.get(id);
    return state === undefined ? undefined : this.#takenNow(state);
  }

  verificationOf(id: string): VerificationState {
    return this.#verifications.get(id) ?? NEVER_VERIFIED;
  }

  all(): Iterable<ArchiveState> {
    return this.#states.values().map((state) => this.#takenNow(state));
  }

  /** Takes in all archives of the driver. */
  replace(states: readonly ArchiveState[]): void {
    this.#states = new Map(states.map((state) => [state.id, state]));
    this.#receivedAtMs = this.#now();
  }

  /** Takes in what has become known of the verified restores of an archive. */
  noteVerification(id: string, state: VerificationState): void {
    this.#verifications.set(id, state);
  }

  #takenNow(state: ArchiveState): ArchiveState {
    return takenAs(state, this.#observedStates, { receivedAtMs: this.#receivedAtMs, nowMs: this.#now() });
  }
}

interface ArchiveWatch {
  db: Database;
  host: Pick<ServedHost, "id" | "driver"> & { archiveStates: WatchedArchives };
}

/**
 * Asks the driver for the states of all archives until the signal is aborted.
 * @returns a promise that resolves after the first attempt.
 */
export function followArchives({ db, host }: ArchiveWatch, signal: AbortSignal, log: Log): Promise<void> {
  const first = Promise.withResolvers<void>();
  const follower = new ArchiveFollower({ db, host }, log);
  const follow = async () => {
    while (!signal.aborted) {
      // Other code reports a driver or a store that is away; the next answer has all states again.
      await follower
        .pass()
        .catch((error: unknown) => log.debug({ error }, "the archives of a host could not be read"));
      first.resolve();
      await sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  void follow();
  return first.promise;
}

/** Asks a driver for the states of its archives, again and again. */
export class ArchiveFollower {
  readonly #watch: ArchiveWatch;
  readonly #intake: ArchiveIntake;
  readonly #alarm: LagAlarm;
  #verifiedUntil: string | null = null;

  constructor(watch: ArchiveWatch, log: Log) {
    this.#watch = watch;
    this.#intake = new ArchiveIntake(watch.db);
    this.#alarm = new LagAlarm(watch.db, watch.host.id, log);
  }

  /** Takes in all states once. @throws PublicError when the driver cannot be reached. */
  async pass(): Promise<void> {
    const { db, host } = this.#watch;
    const states = await host.driver.archives().catch(async (error: unknown) => {
      await this.#alarm.take([...host.archiveStates.all()]);
      throw error;
    });
    host.archiveStates.replace(states);
    for (const { id, writtenAt, ...verified } of await verificationsSince(db, host.id, this.#verifiedUntil)) {
      host.archiveStates.noteVerification(id, verified);
      this.#verifiedUntil = writtenAt;
    }
    await this.#intake.take(states);
    await this.#alarm.take(states);
  }
}

/** Writes what has changed since the answer before. */
class ArchiveIntake {
  readonly #db: Database;
  readonly #bytes = new Map<string, number>();
  /** The newest backups whose log was found to be long, or not to follow them. */
  readonly #long = new Map<string, string>();

  constructor(db: Database) {
    this.#db = db;
  }

  async take(states: readonly ArchiveState[]): Promise<void> {
    const changed = states.filter(({ id, storedBytes }) => this.#bytes.get(id) !== storedBytes);
    if (changed.length > 0) await recordArchiveBytes(this.#db, changed);
    for (const { id, storedBytes } of changed) this.#bytes.set(id, storedBytes);
    for (const state of states) await this.#followLog(state);
  }

  /** The reconciler of the archive looks at it by the clock; a log that needs a backup is reported once for each backup. */
  async #followLog(state: ArchiveState): Promise<void> {
    const newest = state.backups.at(-1)?.id;
    const isDue = isLogLong(state) || lacksBackup(state);
    if (newest === undefined || !isDue || this.#long.get(state.id) === newest) return;
    this.#long.set(state.id, newest);
    const rows = await this.#db`
      update work set run_at = now() where kind = ${ARCHIVES} and id = ${archiveKey(state.id)} returning id`;
    if (rows.length > 0) await notify(this.#db, "work", archiveKey(state.id));
  }
}

// Watches a MariaDB while it is copied: ends a copy whose lock holds customers up, and learns how new the copy is.
import type { SQL } from "bun";
import type { MysqlSpec } from "../../../contracts/instance-spec.ts";
import type { EngineContext } from "../../engine.ts";
import { asAdmin } from "../admin.ts";
import { endSessions } from "./account.ts";

const POLL_MS = 250;

/**
 * How long anything may wait for the lock of a copy: a change of tables, a write to a table without transactions, a
 * commit at the end, or the copy itself behind such a statement, with others behind it.
 */
const MAX_WAIT_MS = 5_000;

/** A copy takes hours at most; beyond these only every second of the earlier readings is kept, again and again. */
const MAX_READINGS = 10_000;

/** What was in the log at an instant: all that was committed before it. */
interface Reading {
  at: number;
  lsn: bigint;
}

/** A watched copy. */
export class Watch {
  #readings: Reading[] = [];
  #waitingSince: number | null = null;
  #hasEndedCopy = false;
  readonly #leaving = Promise.withResolvers<void>();
  #isLeaving = false;
  readonly #done: Promise<void>;

  constructor(context: EngineContext<MysqlSpec>) {
    this.#done = asAdmin(context, async (db) => await this.#watch(db)).catch(() => undefined);
  }

  /** Whether the copy was ended because its lock held customers up. */
  get hasEndedCopy(): boolean {
    return this.#hasEndedCopy;
  }

  /** The latest known instant whose earlier commits are all in the log up to a position; null when none is known. */
  latestBefore(lsn: bigint): string | null {
    const latest = this.#readings.findLast((reading) => reading.lsn <= lsn);
    return latest === undefined ? null : new Date(latest.at).toISOString();
  }

  async stop(): Promise<void> {
    this.#isLeaving = true;
    this.#leaving.resolve();
    await this.#done;
  }

  async #watch(db: SQL): Promise<void> {
    while (!this.#isLeaving) {
      const at = Date.now();
      const [now] = await db.unsafe<{ lsn: string; waiting: number }[]>(`
        select (select variable_value from information_schema.global_status
                where variable_name = 'INNODB_LSN_CURRENT') as lsn,
               exists(select 1 from information_schema.processlist where state = 'Waiting for backup lock') as waiting`);
      if (now === undefined) return;
      this.#note({ at, lsn: BigInt(now.lsn) });
      await this.#noteWaiting(db, Boolean(now.waiting), at);
      await Promise.race([Bun.sleep(POLL_MS), this.#leaving.promise]);
    }
  }

  #note(reading: Reading): void {
    this.#readings.push(reading);
    if (this.#readings.length > MAX_READINGS)
      this.#readings = this.#readings.filter((_, index) => index % 2 === 1);
  }

  async #noteWaiting(db: SQL, isWaiting: boolean, at: number): Promise<void> {
    this.#waitingSince = isWaiting ? (this.#waitingSince ?? at) : null;
    if (this.#waitingSince === null || at - this.#waitingSince < MAX_WAIT_MS) return;
    this.#hasEndedCopy = true;
    await endSessions(db);
  }
}

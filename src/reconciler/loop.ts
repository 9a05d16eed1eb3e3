// Claims due work items from the queue and reconciles them, many at a time, with one run a resource.
import { backoffMs } from "../lib/backoff.ts";
import { PublicError, publicMessageOf } from "../lib/errors.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { Log } from "../lib/log.ts";
import type { Database, Transaction } from "../store/database.ts";
import { becomeOwner, type Owner } from "./owner.ts";
import {
  freeAbandoned,
  freeDistant,
  complete,
  LEASE_SECONDS,
  LONGEST_PAUSE_SECONDS,
  nextDueMs,
  claim,
  type Job,
  type ReconcileResult,
} from "./queue.ts";
import { renewLeases, renewLockedLease } from "./renewals.ts";
import { MAX_RUNS, Runs } from "./runs.ts";

/** The findings and effects of a run, to be written once. */
export interface Outcome {
  result: ReconcileResult;
  /** Writes the status, in the transaction that completes the work item. */
  write?: (tx: Transaction) => Promise<void>;
}

/**
 * Brings one resource to its desired state, or a step nearer; can be run again at any time. An error means: try again.
 */
export type Reconcile = (id: string, signal: AbortSignal) => Promise<Outcome>;

/** The dependencies and settings of the loop. */
interface LoopOptions {
  db: Database;
  /** Opens a pool of one connection, for the session that the leases depend on. */
  openSession(onClose: () => void): Database;
  /** The hosts whose work this loop does; work without a host is done by any loop. */
  hostIds: readonly string[];
  reconcilers: ReadonlyMap<string, Reconcile>;
  /** Kinds whose runs count as slow from their beginning; runs of all other kinds do once they are long. */
  slowKinds: readonly string[];
  /** The time after which a run is long; some seconds when left out. */
  longMs?: number;
  /** The time between renewals of leases; a third of a lease when left out. */
  renewMs?: number;
  log: Log;
}

/** A longer run waits for something large, such as a restore, and does not use the processor all the time. */
const LONG_MS = 5_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = LONGEST_PAUSE_SECONDS * 1_000;
/** How soon the leases of another process that died are taken over. */
const TAKEOVER_INTERVAL_MS = 2_000;
const RENEW_INTERVAL_MS = (LEASE_SECONDS * 1_000) / 3;

export class Loop {
  readonly #options: LoopOptions;
  readonly #runs: Runs;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #owner: Owner | null = null;
  #dueTimer: ReturnType<typeof setTimeout> | undefined;
  #isTaking = false;
  #wasKicked = false;
  #mayBeAbandoned = true;
  #isStopped = false;
  #isAwaitingLocks = false;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#runs = new Runs(options.longMs ?? LONG_MS, () => this.kick());
  }

  /** Begins; resolves when this process can lease work and is notified of new work. */
  async start(): Promise<void> {
    const kick = () => this.kick();
    await this.#takeIdentity();
    await this.#options.db.listen("work", kick, kick);
    this.#every(TAKEOVER_INTERVAL_MS, async () => {
      this.#mayBeAbandoned = true;
      this.kick();
    });
    this.#every(this.#options.renewMs ?? RENEW_INTERVAL_MS, () => this.#renew());
  }

  /** Checks the queue now. */
  kick(): void {
    this.#wasKicked = true;
    if (!this.#isTaking) void this.#takeAll();
  }

  /** Ends all runs and frees their work for other owners. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#dueTimer);
    await this.#runs.end();
    await this.#owner?.close();
  }

  async #takeIdentity(): Promise<void> {
    const owner = await becomeOwner(this.#options.openSession);
    this.#owner = owner;
    void owner.lost.then(() => this.#loseIdentity(owner));
    if (this.#isStopped) await owner.close();
  }

  /** The store has dropped our session: our leases may belong to other owners by now, so every run must end. */
  async #loseIdentity(lost: Owner): Promise<void> {
    if (this.#isStopped) return;
    this.#options.log.warn("the session that holds the leases was lost");
    this.#owner = null;
    await lost.close().catch(() => undefined);
    // A new identity might claim work that an old run still does, so all old runs must have ended.
    await this.#runs.end();
    for (let attempt = 1; this.#owner === null && !this.#isStopped; attempt += 1) {
      await this.#takeIdentity().catch(() => Bun.sleep(backoffMs(attempt, FIRST_RETRY_MS, 2_000)));
    }
    this.#mayBeAbandoned = true;
    this.kick();
  }

  async #renew(): Promise<void> {
    const { keys } = this.#runs;
    const owner = this.#owner;
    if (owner === null || keys.length === 0) return;
    const { lost, locked } = await renewLeases(this.#options.db, owner.id, keys);
    // The renewal was too late: another owner may be running these already.
    for (const key of lost) this.#runs.abort(key);
    if (locked.length > 0) void this.#awaitLocks(owner, locked);
  }

  /** A transaction may hold its locks for long, so one connection at most waits for any, and other leases are renewed. */
  async #awaitLocks(owner: Owner, keys: readonly string[]): Promise<void> {
    const { db, log } = this.#options;
    if (this.#isAwaitingLocks) return;
    this.#isAwaitingLocks = true;
    try {
      for (const key of keys) if (!(await renewLockedLease(db, owner.id, key))) this.#runs.abort(key);
    } catch (error) {
      log.warn({ error }, "a lease could not be renewed");
    } finally {
      this.#isAwaitingLocks = false;
    }
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    try {
      while (this.#wasKicked && !this.#isStopped) {
        this.#wasKicked = false;
        await this.#take();
      }
    } catch (error) {
      this.#options.log.error({ error }, "the queue could not be read");
      this.#kickIn(FIRST_RETRY_MS * 10);
    } finally {
      this.#isTaking = false;
    }
  }

  async #take(): Promise<void> {
    const { db, hostIds } = this.#options;
    const owner = this.#owner;
    // A new identity kicks the loop again.
    if (owner === null) return;
    if (this.#mayBeAbandoned) {
      this.#mayBeAbandoned = false;
      // New runs begin only here, so the keys are complete.
      await freeAbandoned(db, { owner: owner.id, keys: this.#runs.keys });
      await freeDistant(db);
    }
    this.#runs.makeRoom();
    const rest = [await this.#claim(owner, false), await this.#claim(owner, true)];
    // A run that ends kicks the loop again.
    if (rest.includes(0)) return;
    const dueMs = await nextDueMs(db, { hostIds, crowded: this.#runs.crowded() });
    if (dueMs !== null) this.#kickIn(Math.max(0, dueMs));
  }

  /** @returns how many more runs there is room for. */
  async #claim(owner: Owner, isSlow: boolean): Promise<number> {
    const { db, hostIds, slowKinds } = this.#options;
    const room = this.#runs.roomFor(isSlow);
    if (room === 0 || (isSlow && slowKinds.length === 0)) return room;
    const kinds = isSlow ? { among: slowKinds } : { except: slowKinds };
    // Few at a time, since an organization may have as many runs as it may after them.
    const limit = Math.min(room, MAX_RUNS);
    const jobs = await claim(db, owner.id, { hostIds, kinds, crowded: this.#runs.crowded() }, limit);
    // Leases of an identity that was lost meanwhile are freed like those of any other owner that is gone.
    if (this.#owner !== owner || this.#isStopped) return 0;
    for (const job of jobs) this.#runs.begin(job, isSlow, (signal) => this.#run(owner, job, signal));
    return jobs.length < limit ? room - jobs.length : await this.#claim(owner, isSlow);
  }

  async #run(owner: Owner, job: Job, signal: AbortSignal): Promise<void> {
    const { db, log } = this.#options;
    await failpoint("loop.taken", job);
    const outcome = await this.#reconcile(job, signal);
    await failpoint("loop.reconciled", job);
    // The outcome of an aborted run is outdated; the next owner of the lease finds out for itself.
    if (signal.aborted) return;
    try {
      await db.begin(async (tx) => {
        const given = await complete(tx, owner.id, job, outcome.result);
        if (given === "lost") throw new LeaseLost();
        // There was news during the run; the next run, which is due already, writes the status.
        if (given === "given") await outcome.write?.(tx);
      });
    } catch (error) {
      log.warn({ error, kind: job.kind, id: job.id }, "the outcome of a run could not be written");
      if (!(error instanceof LeaseLost)) await this.#postpone(owner, job, error);
    }
    await failpoint("loop.written", job);
  }

  /**
   * Completes work whose outcome the store refuses as unsettled, so that its runs pause for longer and longer. While the
   * store does not answer, the resource counts as abandoned instead; its next owner begins from the observed state.
   */
  async #postpone(owner: Owner, job: Job, error: unknown): Promise<void> {
    const { db, log } = this.#options;
    try {
      await complete(db, owner.id, job, unsettledBy(error, job));
    } catch (failure) {
      log.warn({ error: failure, kind: job.kind, id: job.id }, "a run could not be completed");
    }
  }

  async #reconcile(job: Job, signal: AbortSignal): Promise<Outcome> {
    const { reconcilers, log } = this.#options;
    try {
      const reconcile = reconcilers.get(job.kind);
      if (reconcile === undefined) throw new PublicError(`This Pilvi does not know the kind ${job.kind}.`);
      return await reconcile(job.id, signal);
    } catch (error) {
      const isOverdue = job.deadlineAt !== null && job.deadlineAt.getTime() < Date.now();
      const about = { error, kind: job.kind, id: job.id, attempts: job.attempts, isOverdue };
      log[isOverdue ? "error" : "warn"](about, "a resource could not be brought to its desired state yet");
      return { result: unsettledBy(error, job) };
    }
  }

  #kickIn(delayMs: number): void {
    clearTimeout(this.#dueTimer);
    if (this.#isStopped) return;
    // A timer's longest delay is about 24 days; a later due time is checked again then.
    this.#dueTimer = setTimeout(() => this.kick(), Math.min(delayMs, 2 ** 31 - 1));
  }

  /** Runs a task again and again, never twice at a time. */
  #every(intervalMs: number, task: () => Promise<void>): void {
    let isUnderWay = false;
    const run = async () => {
      if (isUnderWay) return;
      isUnderWay = true;
      await task().catch((error: unknown) => this.#options.log.warn({ error }, "a periodic task failed"));
      isUnderWay = false;
    };
    this.#timers.push(setInterval(() => void run(), intervalMs));
  }
}

/** The result of a run that ended with an error. */
function unsettledBy(error: unknown, { attempts }: Job): ReconcileResult {
  const lastError = publicMessageOf(error, "Pilvi failed; its log says why.");
  return { settled: false, retryMs: backoffMs(attempts, FIRST_RETRY_MS, LONGEST_RETRY_MS), lastError };
}

class LeaseLost extends Error {
  override message = "the lease was lost";
}

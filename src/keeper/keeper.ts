// The keeper as a whole: targets, archives, and the work at intervals.
import type { CheckLine } from "../contracts/keeper.ts";
import { backoffMs } from "../lib/backoff.ts";
import { PublicError } from "../lib/errors.ts";
import { forEachLimited } from "../lib/for-each-limited.ts";
import type { Log } from "../lib/line-log.ts";
import { Archives } from "./archives/archives.ts";
import { Garbage } from "./archives/garbage.ts";
import { loadContents, type Contents } from "./archives/loading.ts";
import { LogShipper, type LogListing } from "./log/shipper.ts";
import { ARCHIVES, logPrefix } from "./names.ts";
import { WrongKey } from "./object-store.ts";
import { BackupStore } from "./backups/backup-store.ts";
import { checkTargets } from "./check.ts";
import { Sealer } from "./envelope.ts";
import { TARGET_OBJECT } from "./targets/opening.ts";
import type { KeptTarget } from "./targets/kept-target.ts";
import { TargetSet } from "./targets/target-set.ts";
import type { Target } from "./targets/target.ts";
import { Throttle } from "./targets/throttle.ts";

/** What a lost disk may take of a log that is being written. */
const PASS_INTERVAL_MS = 1_000;
const REVIEW_INTERVAL_MS = 600_000;
/** How soon the keeper learns what a target has that was away at the start. */
const LATE_TARGET_INTERVAL_MS = 10_000;
const LOADS_AT_ONCE = 8;
const [FIRST_RETRY_MS, LONGEST_RETRY_MS] = [500, 10_000];
/** How long a request waits for the targets to be read after a start. */
const LOADING_TIMEOUT_MS = 20_000;

export interface KeeperOptions {
  /** At least one, the preferred one for reading first. */
  targets: Target[];
  /** The folder of the keeper's own notes. */
  notesDir: string;
  /** 32 bytes. */
  key: Uint8Array<ArrayBuffer>;
  /** 0 for no bound. */
  bytesPerSecond: number;
  log: Log;
  /** For tests. */
  partBytes?: number;
  leftoverMs?: number;
  passIntervalMs?: number;
  lateTargetIntervalMs?: number;
  loadingTimeoutMs?: number;
}

export class Keeper {
  readonly store: TargetSet;
  readonly archives: Archives;
  readonly #backups: BackupStore;
  readonly #garbage: Garbage;
  readonly #logs: LogShipper;
  readonly #throttle: Throttle;
  readonly #log: Log;
  readonly #loadingTimeoutMs: number;
  readonly #lateTargetIntervalMs: number;
  /** The targets that answered when the logs were read last. */
  #answering: ReadonlySet<KeptTarget> = new Set();
  readonly #loaded = Promise.withResolvers<void>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #lateTargetTimer: ReturnType<typeof setInterval> | undefined;
  #isReadingLate = false;
  #isClosed = false;

  constructor({ targets, notesDir, key, bytesPerSecond, log, ...timing }: KeeperOptions) {
    this.#log = log;
    this.#loadingTimeoutMs = timing.loadingTimeoutMs ?? LOADING_TIMEOUT_MS;
    this.#lateTargetIntervalMs = timing.lateTargetIntervalMs ?? LATE_TARGET_INTERVAL_MS;
    this.#throttle = new Throttle(bytesPerSecond);
    this.store = new TargetSet(targets, {
      notesDir,
      sealer: new Sealer(key),
      throttle: this.#throttle,
      log,
    });
    this.#backups = new BackupStore(this.store, this.#throttle, timing.partBytes);
    this.#logs = new LogShipper({
      store: this.store,
      log,
      intervalMs: timing.passIntervalMs ?? PASS_INTERVAL_MS,
      prefixOf: logPrefix,
      onTurn: (id) => this.archives.logChanged(id),
    });
    this.archives = new Archives(this.store, this.#backups, this.#logs, log);
    this.#garbage = new Garbage(this.archives, timing.leftoverMs);
  }

  /** Reads in the background what the targets have, again and again until one of them answers. */
  start(): void {
    void this.#load();
  }

  /** @throws PublicError, or WrongKey, while no target has answered since the start. */
  async loaded(): Promise<void> {
    const isLate = Bun.sleep(this.#loadingTimeoutMs).then(() => true);
    if ((await Promise.race([this.#loaded.promise, isLate])) !== true) return;
    const { lastError } = this.store;
    if (this.store.hasWrongKey) throw new WrongKey(TARGET_OBJECT);
    throw new PublicError(lastError ?? "The backup targets are still being read.");
  }

  /** Reads every object of every target back. */
  check(): AsyncGenerator<CheckLine> {
    return checkTargets(this.store.targets, this.store.sealer, this.#throttle);
  }

  /** Writes what waits, and ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearInterval(this.#lateTargetTimer);
    await this.#logs.stop();
    await this.store.close();
  }

  async #load(): Promise<void> {
    for (let attempt = 1; !this.#isClosed; attempt += 1) {
      try {
        await this.#look();
        this.#loaded.resolve();
        this.#logs.start();
        this.#timer = setInterval(() => void this.review(), REVIEW_INTERVAL_MS);
        this.#lateTargetTimer = setInterval(() => void this.#readLate(), this.#lateTargetIntervalMs);
        await this.store.tend();
        await this.review();
        return;
      } catch (error) {
        if (attempt === 1) this.#log.error({ error }, "the backup targets cannot be read yet");
        await Bun.sleep(backoffMs(attempt, FIRST_RETRY_MS, LONGEST_RETRY_MS));
      }
    }
  }

  /** Lists the targets, and takes over what they have. @throws when none answers. */
  async #look(): Promise<Contents> {
    const listing = this.#logs.beginListing();
    try {
      const { deletions } = this.archives;
      const { objects, answering } = await this.store.listing(ARCHIVES);
      const contents = await loadContents(objects, this.store, this.#backups);
      if (this.archives.deletions !== deletions) return contents;
      this.archives.take(contents, answering);
      await this.#loadLogs(contents, listing, new Set(answering));
      return contents;
    } finally {
      listing.end();
    }
  }

  /** Takes over what the logs have at the targets. A log that cannot be read says so in its own requests. */
  async #loadLogs(
    { logs }: Pick<Contents, "logs">,
    listing: LogListing,
    answering: ReadonlySet<KeptTarget>,
  ): Promise<void> {
    const isTargetBack = [...answering].some((kept) => !this.#answering.has(kept));
    await forEachLimited(logs, LOADS_AT_ONCE, async ([id, names]) => {
      // Requests go on, and one may have deleted the archive.
      if (!this.archives.has(id)) return;
      await listing
        .take(id, names, isTargetBack)
        .catch((error: unknown) => this.#log.error({ error, archive: id }, "a log cannot be read"));
    });
    this.#answering = answering;
  }

  /** Retention waits for targets that were away at the start, so they are read when they answer. */
  async #readLate(): Promise<void> {
    const isBack = this.store.targets.some(({ isRead, lastError }) => !isRead && lastError === null);
    if (!isBack || this.#isReadingLate) return;
    this.#isReadingLate = true;
    await this.review();
    this.#isReadingLate = false;
  }

  /** Learns what targets have that were away, and deletes what killed keepers left. It runs by itself as well. */
  async review(): Promise<void> {
    try {
      const contents = await this.#look();
      await this.#garbage.collect(contents, Date.now());
    } catch (error) {
      this.#log.warn({ error }, "the backup targets cannot be looked through");
    }
  }
}

// A log that the keeper knows: where it is, whether it is shipped, and what is wrong with it.
import { backoffMs } from "../../lib/backoff.ts";
import { publicMessageOf, PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { Mutex } from "../../lib/mutex.ts";
import type {
  Announcement,
  BackupInfo,
  LogState,
  RestorePlan,
  RestoreTarget,
  Retention,
} from "../../contracts/keeper.ts";
import { trimmedBinlogPlan } from "./binlog-trim.ts";
import { timelineOf, type LogCatalog } from "./chain.ts";
import { HeldSegments } from "./held-segments.ts";
import { Lag } from "./lag.ts";
import { deletableOf, type Deletable } from "./retention.ts";
import type { LogArchive } from "./log-archive.ts";
import { LogSummary } from "./log-summary.ts";
import { bytesSinceNewest, restorePlan } from "./plan.ts";
import { parseHistoryName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";
import { ShippedBinlog } from "./shipped-binlog.ts";
import { ShippedLog } from "./shipped-log.ts";
import type { Shipping, Step } from "./shipping.ts";
import { trimmedPlan } from "./trim.ts";

type LogSource = NonNullable<Announcement["log"]>;

/** A customer's flood of changes ships so many segments before the other logs get their turn. */
const SEGMENTS_A_TURN = 4;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** A page that is read while it is written is whole a moment later. */
const SETTLE_MS = 20;
const MAX_UNSETTLED = 50;
/** So many segments are deleted before a pass or a request that waits gets its turn. */
const DELETES_A_TURN = 8;

export class TrackedLog {
  readonly archive: LogArchive;
  readonly #mutex = new Mutex();
  #source: LogSource | null = null;
  #shipped: Shipping | null = null;
  #failures = 0;
  #nextAt = 0;
  #error: string | null = null;
  readonly #lag = new Lag();
  #isAsleepAndShipped = false;
  /** How many requests have it begin anew just now; no pass runs meanwhile. */
  #beginnings = 0;
  readonly #held = new HeldSegments();
  readonly #summary = new LogSummary();
  readonly #reader: SegmentReader;

  constructor(archive: LogArchive) {
    this.archive = archive;
    const catalogOf = (backups: BackupInfo[]) => this.catalog(backups);
    this.#reader = new SegmentReader({ archive, mutex: this.#mutex, catalogOf });
  }

  /** A log that fell asleep gets one more pass, a log that woke up gets one at once. */
  announce(source: LogSource | null): void {
    const isSame = source?.folder === this.#source?.folder && source?.isAwake === this.#source?.isAwake;
    const isAlike =
      source?.segmentBytes === this.#source?.segmentBytes && source?.format === this.#source?.format;
    if (!isAlike) this.#shipped = null;
    this.#source = source;
    if (isSame) return;
    this.#isAsleepAndShipped = false;
    this.#nextAt = 0;
    if (source !== null) this.#lag.begin(Date.now());
  }

  /** A log at rest gets one more pass, so that its watermark is not before a backup that was made meanwhile. */
  passAgain(): void {
    // A pass under way may have begun before the backup was complete.
    void this.#mutex.run(async () => {
      this.#isAsleepAndShipped = false;
    });
  }

  /** Whether a pass has something to do, and need not wait until the log has begun anew. */
  isDue(now: number): boolean {
    const isFree = this.#beginnings === 0 && now >= this.#nextAt;
    return this.#source !== null && !this.#isAsleepAndShipped && isFree;
  }

  /** A sentence about what keeps the log from its archive, or was wrong with it; null when all is well. */
  get lastError(): string | null {
    return this.#error ?? this.#shipped?.damage ?? null;
  }

  /** One turn: a bounded part of what is new. @returns whether more is waiting. Failures are kept in `lastError`. */
  async turn(): Promise<boolean> {
    return await this.#mutex.run(async () => {
      const source = this.#source;
      if (source === null) return false;
      try {
        const step = await this.#pass(source);
        if (step === "end" && this.#source === source) this.#isAsleepAndShipped = !source.isAwake;
        return step === "more";
      } catch (error) {
        this.#failed(error);
        return false;
      }
    });
  }

  /** Ships all that was written up to now. @throws PublicError when that fails. */
  async flush(): Promise<void> {
    const startedAt = Date.now();
    for (let unsettled = 0; unsettled < MAX_UNSETTLED;) {
      const before = this.#shipped?.watermark?.lsn;
      const source = this.#source;
      if (source === null) return;
      const step = await this.#mutex
        .run(async () => await this.#pass(source))
        .catch((error: unknown) => {
          this.#failed(error);
          throw new PublicError("The log could not be shipped to its archive.", error);
        });
      const at = this.#shipped?.watermark?.at;
      if (step === "end" || (at !== undefined && Date.parse(at) >= startedAt)) return;
      if (before !== this.#shipped?.watermark?.lsn) continue;
      unsettled += 1;
      await Bun.sleep(SETTLE_MS);
    }
    throw new PublicError("The log could not be shipped to its archive: it cannot be read to its end.");
  }

  /**
   * Plans a restore from what the archive has after a flush. The segments of the plan stay for some hours.
   * @throws PlanRefused, DamagedObject, WrongKey.
   */
  async plan(backups: BackupInfo[], target: RestoreTarget): Promise<RestorePlan> {
    await this.archive.load();
    // Without it the plan is refused where it must be: the watermark says how far the archive reaches.
    await this.flush().catch(() => undefined);
    const { log, whole } = await this.#mutex.run(async () => this.#planAndHold(backups, target));
    const plan = log === null ? whole : await this.#trimmed(whole, log, backups);
    const names = plan.segments.map(({ name }) => name);
    await this.#reader.readAgain(names, backups);
    return plan;
  }

  /** Plans a restore and holds its segments in one step, so that no deletion of a segment comes between. */
  #planAndHold(backups: BackupInfo[], target: RestoreTarget) {
    const log = this.catalog(backups);
    const whole = restorePlan({ backups, log }, target);
    const first = whole.segments.find(({ name }) => parseHistoryName(name) === null);
    this.#held.hold(whole.backup.id, first?.name, Date.now());
    return { log, whole };
  }

  async #trimmed(whole: RestorePlan, { format, segmentBytes }: LogCatalog, backups: BackupInfo[]) {
    const read = async (name: string) => await this.#reader.readPlanned(name, backups);
    if (format === "binlog") return await trimmedBinlogPlan(whole, segmentBytes, read);
    // The API plans a restore, and then the host does.
    return await trimmedPlan(whole, segmentBytes, read, this.archive.ends);
  }

  /** @see SegmentReader.read */
  async read(name: string, backups: BackupInfo[]): Promise<Uint8Array> {
    return await this.#reader.read(name, backups);
  }

  /** What retention may delete now: nothing that a planned restore reads, and segments only when they are named again. */
  async releasable(backups: BackupInfo[], retention: Retention): Promise<Deletable> {
    await this.archive.load();
    const log = this.catalog(backups);
    const named = deletableOf({ backups, log }, retention);
    const now = Date.now();
    return {
      backups: named.backups.filter((id) => !this.#held.holds(id, now)),
      segments: this.#held.release(named.segments, now),
    };
  }

  /**
   * Deletes the log: what comes is that of other data, and goes on after no backup so far. No pass comes between, since
   * the names of its segments may be those of segments that are still to be deleted.
   */
  async beginAnew(): Promise<void> {
    this.#beginnings += 1;
    try {
      await this.#mutex.run(async () => {
        this.#shipped = null;
        await this.archive.beginAnew(Date.now());
      });
    } finally {
      this.#beginnings -= 1;
    }
  }

  /**
   * Deletes segments that retention has released. Passes and requests come between, so those stay that a restore reads
   * which was planned meanwhile. @returns how many were deleted.
   */
  async deleteSegments(names: string[]): Promise<number> {
    let count = 0;
    for (let at = 0; at < names.length; at += DELETES_A_TURN) {
      const some = names.slice(at, at + DELETES_A_TURN);
      count += await this.#mutex.run(async () => await this.#deleteSome(some));
    }
    return count;
  }

  async #deleteSome(names: string[]): Promise<number> {
    const free = names.filter((name) => !this.#held.keeps(name, Date.now()));
    for (const name of free) {
      await this.archive.deleteSegment(name);
      await failpoint("keeper.log.delete");
    }
    await this.archive.deletePieces(({ segment }) => free.includes(segment));
    return free.length;
  }

  /**
   * Takes over objects that were listed, and ships on from there.
   * @param deleted the names of what was deleted since the listing began. @param rereads the watermark in any case.
   */
  async take(names: string[], deleted: ReadonlySet<string>, rereads: boolean): Promise<void> {
    await this.#mutex.run(async () => {
      const there = names.filter((name) => !deleted.has(name));
      if (!(await this.archive.take(there, rereads))) return;
      this.#shipped = null;
      this.#isAsleepAndShipped = false;
      this.#nextAt = 0;
    });
  }

  /** Ships nothing any more; resolves when no pass runs. */
  async close(): Promise<void> {
    this.announce(null);
    await this.#mutex.run(async () => undefined);
  }

  /** What is in the archive; null before anything was shipped. @param backups say what a log is that is not announced. */
  catalog(backups: BackupInfo[]): LogCatalog | null {
    const [ofBackups] = backups.flatMap(({ postgres, mysql }) => postgres ?? mysql ?? []);
    const bytes = this.#source?.segmentBytes ?? ofBackups?.segmentBytes ?? null;
    const isBinlog =
      this.#source === null
        ? backups.some(({ mysql }) => mysql !== undefined)
        : this.#source.format === "binlog";
    const { objects, histories } = this.archive;
    if (bytes === null || (objects.segments.size === 0 && objects.pieces.length === 0)) return null;
    const watermark = this.#shipped?.watermark ?? this.archive.watermark;
    return { ...(isBinlog && { format: "binlog" }), segmentBytes: bytes, objects, histories, watermark };
  }

  state(backups: BackupInfo[]): LogState | null {
    const catalog = this.catalog(backups);
    const timeline = catalog === null ? null : timelineOf(catalog);
    const watermark = catalog?.watermark ?? null;
    if (catalog === null || timeline === null || watermark === null) return null;
    const { firstSegment, ...summary } = this.#summary.of(catalog, backups, this.archive.version);
    if (firstSegment === null) return null;
    return {
      timeline,
      firstSegment,
      watermark,
      ...summary,
      lagSeconds: this.#lag.seconds(this.#source?.isAwake === true, Date.now()),
      ...(catalog.format === "binlog" && { bytesSinceBackup: bytesSinceNewest(catalog, backups) }),
    };
  }

  async #pass(source: LogSource): Promise<Step> {
    const Shipped = source.format === "binlog" ? ShippedBinlog : ShippedLog;
    this.#shipped ??= new Shipped(this.archive, source.segmentBytes);
    const startedAt = Date.now();
    const step = await this.#shipped.pass(source.folder, SEGMENTS_A_TURN);
    this.#error = null;
    this.#failures = 0;
    this.#nextAt = 0;
    this.#lag.passed(startedAt, step);
    return step;
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    this.#nextAt = Date.now() + backoffMs(this.#failures, FIRST_PAUSE_MS, MAX_PAUSE_MS);
    this.#error = publicMessageOf(error, "The log could not be shipped to its archive.");
    const at = this.#shipped?.watermark?.at;
    this.#lag.begin(at === undefined ? Date.now() : Date.parse(at));
  }
}

// Feeds one replica with the log in its primary's archive, and knows how far it is behind. The primary is not asked.
import { join } from "node:path";
import type { ArchiveState, LogState, Watermark } from "../../contracts/keeper.ts";
import type { EngineLog, EngineReplica } from "../../engines/backup.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { EngineProcess } from "../engine/engine-process.ts";
import type { DataSource } from "./data-source.ts";
import type { KeeperClient } from "./keeper-client.ts";
import { putSegment, segmentAfter } from "./segment-file.ts";

/** So many segments at most are fed at once; the next pass goes on. */
const SEGMENTS_AT_ONCE = 64;

/** A replica that does not get on for so long has log that does not fit its data. */
const STALL_MS = 120_000;

/** A smaller change of the lag is not worth a notice to all watchers. */
const LAG_STEP_SECONDS = 2;

interface ReplicaFeedParts {
  keeper: Pick<KeeperClient, "archive" | "readLog">;
  source: DataSource;
  /** The id of the primary. */
  primary: string;
  log: Log;
  signal: AbortSignal;
}

/** A replica that runs. */
interface Running extends Runnable {
  process: EngineProcess;
  engineLog: EngineLog;
  replica: EngineReplica;
}

export class ReplicaFeed {
  readonly #parts: ReplicaFeedParts;
  /** The process that the rest is known for. */
  #process: EngineProcess | null = null;
  /** The segment to feed next, of which it may have a part. */
  #next: string | null = null;
  /** How far it was fed. */
  #fed: Watermark | null = null;
  /** The instant up to which it shows all commits. */
  #shownAtMs: number | null = null;
  #stall: { position: string; sinceMs: number } | null = null;
  /** The newest timeline of the log that the data was built anew for. */
  #builtFor = 0;

  constructor(parts: ReplicaFeedParts) {
    this.#parts = parts;
  }

  /** Feeds what has arrived in the archive since the last pass. @throws when the keeper or the engine does not answer. */
  async pass(): Promise<void> {
    const { process } = this.#parts.source;
    if (process !== this.#process) this.#forget(process);
    if (process === null) return this.#show(null);
    try {
      await this.#follow(process);
    } catch (error) {
      // A figure from before would hide that nothing arrives.
      this.#show(this.#age());
      throw error;
    }
  }

  async #follow(process: EngineProcess): Promise<void> {
    const { source, keeper, primary } = this.#parts;
    const runnable = await source.runnable();
    const engineLog = runnable.engine.backup?.log ?? null;
    const archive = await keeper.archive(primary);
    const replica = engineLog?.replica ?? null;
    if (engineLog === null || replica === null || archive === null || archive.log === null) return;
    const running = { ...runnable, process, engineLog, replica };
    await this.#measure(running, archive.log);
    await this.#feed(running, archive, archive.log);
  }

  #forget(process: EngineProcess | null): void {
    this.#process = process;
    this.#next = null;
    this.#fed = null;
    this.#stall = null;
  }

  async #measure({ context, replica }: Running, { watermark, lagSeconds }: LogState): Promise<void> {
    const { source } = this.#parts;
    if (this.#fed === null || !source.isServing) return;
    const { position, isReached } = await replica.hasReplayed(context, this.#fed.lsn);
    if (isReached) {
      this.#shownAtMs = Date.parse(this.#fed.at);
      this.#stall = null;
    } else this.#noteStall(position);
    const isAtEnd = isReached && this.#fed.lsn === watermark.lsn;
    this.#show(isAtEnd ? lagSeconds : this.#age());
  }

  #age(): number | null {
    return this.#shownAtMs === null ? null : Math.max(0, (Date.now() - this.#shownAtMs) / 1_000);
  }

  #show(seconds: number | null): void {
    const { source } = this.#parts;
    const [former, now] = [source.lagSeconds, seconds === null ? null : Math.round(seconds)];
    if (former === now) return;
    const isNear =
      former !== null && now !== null && Math.abs(now - former) < Math.max(LAG_STEP_SECONDS, former / 4);
    if (!isNear) source.noteLag(now);
  }

  #noteStall(position: string): void {
    if (this.#stall?.position !== position) this.#stall = { position, sinceMs: performance.now() };
    else if (performance.now() - this.#stall.sinceMs > STALL_MS) this.#rebuild("it does not get on");
  }

  async #feed(running: Running, archive: ArchiveState, { watermark, ...log }: LogState): Promise<void> {
    const { context, engineLog, replica } = running;
    const { dataDir } = context.paths;
    this.#next ??= replica.nextSegment(dataDir);
    if (isBroken(this.#next, log)) {
      // Until there is a later backup, it shows at least what it has.
      if (hasBackupAfter(this.#next, archive)) this.#rebuild("its log is not in the archive any more");
      else if (timelineOf(this.#next) < log.timeline) this.#buildFor(log);
      return;
    }
    if (this.#fed?.lsn !== watermark.lsn) {
      const segmentBytes = engineLog.segmentBytes(dataDir);
      for (
        let fed = 0;
        this.#next <= watermark.segment;
        this.#next = segmentAfter(this.#next, segmentBytes)
      ) {
        if (fed++ === SEGMENTS_AT_ONCE) return;
        await this.#put(running, this.#next, this.#next < watermark.segment);
        if (this.#next === watermark.segment) break;
      }
    }
    this.#fed = watermark;
  }

  /**
   * The primary was restored, and its log has gone on with another timeline, which only new data can follow: the former
   * log may have more than was restored. The data is built for each timeline once, as a build may find older data only.
   */
  #buildFor({ timeline, earliestRestoreTime }: Pick<LogState, "timeline" | "earliestRestoreTime">): void {
    if (earliestRestoreTime === null || timeline <= this.#builtFor) return;
    this.#builtFor = timeline;
    this.#rebuild("its primary was restored");
  }

  async #put({ context, engineLog, process }: Running, name: string, isWhole: boolean): Promise<void> {
    const { keeper, primary, source, signal } = this.#parts;
    const content = await keeper.readLog(primary, name, signal);
    const folder = engineLog.folder(context.paths.dataDir);
    const aside = join(source.folder.path, "segment");
    // Data that is being built anew has other segments.
    if (source.process !== process) throw new Error("the replica has ended");
    await putSegment({ folder, name, aside, account: context.account }, content, isWhole);
    await failpoint("host.replica.fed");
  }

  #rebuild(reason: string): void {
    const { source, log } = this.#parts;
    log.warn({ instance: source.id, reason }, "a replica is built anew");
    this.#shownAtMs = null;
    source.rebuild();
  }
}

/** Whether log from the segment on is missing in the archive. */
function isBroken(newest: string, { firstSegment, gaps, timeline }: Omit<LogState, "watermark">): boolean {
  return (
    timelineOf(newest) !== timeline || newest < firstSegment || gaps.some(({ before }) => before > newest)
  );
}

function timelineOf(segment: string): number {
  return Number.parseInt(segment.slice(0, 8), 16);
}

function hasBackupAfter(newest: string, { backups }: ArchiveState): boolean {
  return backups.some(({ postgres }) => postgres !== null && postgres.startSegment > newest);
}

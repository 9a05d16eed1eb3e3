// Keeps the keeper informed of the logs to ship, and lets engines delete the log that has arrived in the archive.
import { isDeepStrictEqual } from "node:util";
import type { Announcement, LogState } from "../../contracts/keeper.ts";
import type { Log } from "../../lib/log.ts";
import { announcementOf, startOfSegment } from "./announcement.ts";
import type { DataSource } from "./data-source.ts";
import type { KeeperClient } from "./keeper-client.ts";

/** How soon a keeper that ended is looked for again. */
const RECONNECT_MS = 500;

/** How often engines are asked for the state of their logs, and may delete what has arrived. */
const RELEASE_INTERVAL_MS = 30_000;

/** How long a removal waits for a target that stores the last of a log. */
const LAST_LOG_TIMEOUT_MS = 60_000;

const BROKEN =
  "A part of the log was lost before it could be stored: instants before the next backup may be out of reach.";

/** What the link works with. */
interface ArchiveLinkParts {
  keeper: KeeperClient;
  sources(): Iterable<DataSource>;
  find(id: string): DataSource | undefined;
  log: Log;
  releaseIntervalMs?: number;
}

export class ArchiveLink {
  readonly #parts: ArchiveLinkParts;
  readonly #ending = new AbortController();
  /** The announcements that this keeper has. */
  readonly #announced = new Map<string, Announcement>();
  /** The logs in their archives, as the keeper reported them last. */
  readonly #logs = new Map<string, LogState>();
  /** Up to where each engine may delete its log. */
  readonly #released = new Map<string, string>();
  readonly #changed = new Set<string>();
  #isAnnouncing = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(parts: ArchiveLinkParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.#follow();
    this.#timer = setInterval(
      () => void this.#releaseAll(),
      this.#parts.releaseIntervalMs ?? RELEASE_INTERVAL_MS,
    );
  }

  stop(): void {
    this.#ending.abort();
    clearInterval(this.#timer);
  }

  /** An instance may have a log to ship now, or none any more, or its engine has started or ended. */
  changed(id: string): void {
    this.#changed.add(id);
    if (!this.#isAnnouncing) void this.#announce();
  }

  /** Ships the log of an engine that has ended to its end. @throws when the keeper does not take it in time. */
  async shipLast(id: string): Promise<void> {
    const { keeper, find } = this.#parts;
    const source = find(id);
    if (source === undefined || !source.keepsLog) return;
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(LAST_LOG_TIMEOUT_MS)]);
    const announcement = await announcementOf(source);
    await keeper.announce(id, announcement, signal);
    await keeper.flush(id, signal);
    await keeper.announce(id, { ...announcement, log: null }, signal);
    this.#announced.delete(id);
  }

  /** Lets all engines delete the log that is in their archives. */
  async #releaseAll(): Promise<void> {
    for (const source of this.#parts.sources()) {
      if (this.#ending.signal.aborted) return;
      if (source.keepsLog) this.changed(source.id);
      await this.#release(source).catch((error: unknown) =>
        this.#parts.log.warn({ error, instance: source.id }, "the log of an instance could not be released"),
      );
    }
  }

  /** Follows the keeper, and names all instances to each keeper anew. */
  async #follow(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        for await (const line of this.#parts.keeper.watch(signal)) {
          if (line.type === "removed") this.#logs.delete(line.id);
          if (line.type === "archive" && line.archive.log !== null)
            this.#logs.set(line.archive.id, line.archive.log);
          if (line.type === "synced") this.#announceAll();
        }
      } catch (error) {
        if (!signal.aborted) this.#parts.log.debug({ error }, "the keeper does not answer");
      }
      await Bun.sleep(RECONNECT_MS);
    }
  }

  #announceAll(): void {
    this.#announced.clear();
    for (const { id } of this.#parts.sources()) this.changed(id);
  }

  async #announce(): Promise<void> {
    this.#isAnnouncing = true;
    for (const id of this.#changed) {
      this.#changed.delete(id);
      if (this.#ending.signal.aborted) break;
      // The next keeper gets all announcements again.
      await this.#announceOne(id).catch((error: unknown) =>
        this.#parts.log.debug({ error, instance: id }, "an instance could not be named to the keeper"),
      );
    }
    this.#isAnnouncing = false;
  }

  async #announceOne(id: string): Promise<void> {
    const { keeper, find } = this.#parts;
    const former = this.#announced.get(id);
    const announcement = await this.#announcementOf(find(id), former);
    if (announcement === null || isDeepStrictEqual(announcement, former)) return;
    if (announcement.log === null && (former?.log ?? null) === null) return;
    await keeper.announce(id, announcement);
    this.#announced.set(id, announcement);
    if (former?.log?.isAwake === true && announcement.log?.isAwake === false) await keeper.flush(id);
  }

  /** Of an instance without data, that it has no log; null when there is nothing to say. */
  async #announcementOf(
    source: DataSource | undefined,
    former: Announcement | undefined,
  ): Promise<Announcement | null> {
    if (source === undefined || source.manifest === null)
      return former === undefined ? null : { ...former, log: null };
    // A removal ships the last of the log.
    if (source.manifest.state === "removing") return null;
    return source.keepsLog
      ? await announcementOf(source)
      : former === undefined
        ? null
        : { ...former, log: null };
  }

  async #release(source: DataSource): Promise<void> {
    const { id } = source;
    if (!source.keepsLog || !source.isServing) return void this.#released.delete(id);
    const { engine, context } = await source.runnable();
    const log = engine.backup?.log;
    if (log === undefined || log === null) return;
    const { isWhole } = await log.status(context);
    if (!isWhole) {
      this.#released.delete(id);
      source.notice(BROKEN);
    }
    const archived = this.#logs.get(id);
    if (archived === undefined) return;
    const lsn = startOfSegment(archived.watermark.segment, log.segmentBytes(context.paths.dataDir));
    if (this.#released.get(id) === lsn) return;
    await log.release(context, lsn);
    this.#released.set(id, lsn);
  }
}

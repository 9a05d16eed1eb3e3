// Ships the logs of all instances: one pass a second for each that is awake, and one after it fell asleep.
import type { ObjectStore } from "../object-store.ts";
import { LogArchive } from "./log-archive.ts";
import { TrackedLog } from "./tracked-log.ts";

/** So many logs are shipped at once; a slow target holds up no more than these. */
const WORKERS = 8;

/** How long logs with more to ship are shipped on when the shipper is to stop. */
const LAST_TURNS_MS = 5_000;

interface ShipperOptions {
  store: ObjectStore;
  log: { warn(members: object, message: string): void };
  intervalMs: number;
  /** The prefix of the objects of a log, such as `archives/ID/log/`. */
  prefixOf: (id: string) => string;
  /** Called with the id after each turn of a log. */
  onTurn: (id: string) => void;
}

/** A listing of the targets that is under way. */
export interface LogListing {
  /**
   * Takes over what the listing shows of a log.
   * @param names of all its objects. @param isTargetBack whether a target may have a later watermark than was known.
   */
  take(id: string, names: string[], isTargetBack: boolean): Promise<void>;
  end(): void;
}

export class LogShipper {
  readonly #options: ShipperOptions;
  readonly #logs = new Map<string, TrackedLog>();
  /** Logs that wait for their turn; a log with more to ship goes to the end. */
  readonly #waiting = new Set<string>();
  /** Logs whose turn is under way. Another worker would only wait for its end, and be missed by other logs. */
  readonly #served = new Set<string>();
  #idle: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  #endsAt = Number.POSITIVE_INFINITY;

  constructor(options: ShipperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), this.#options.intervalMs);
    this.#tick();
  }

  /** Ships what engines have written until a moment ago; resolves when no pass runs any more. */
  async stop(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#endsAt = Date.now() + LAST_TURNS_MS;
    this.#tick();
    if (this.#served.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  /** The log of an archive, which also an instance has that does not exist any more. */
  logOf(id: string): TrackedLog {
    const known = this.#logs.get(id);
    if (known !== undefined) return known;
    const made = new TrackedLog(new LogArchive(this.#options.store, this.#options.prefixOf(id)));
    this.#logs.set(id, made);
    return made;
  }

  /** Begins a listing of the targets: what is deleted from now on is not taken over from it. */
  beginListing(): LogListing {
    const listed = new Map(
      [...this.#logs].map(([id, log]) => [id, { log, deleted: log.archive.beginListing() }]),
    );
    return {
      take: async (id, names, isTargetBack) => {
        const before = listed.get(id);
        const log = this.logOf(id);
        // A log that became known meanwhile is read as it is now.
        if (before?.log !== log) return void (await log.archive.load());
        await log.take(names, before.deleted, isTargetBack);
      },
      end: () => {
        for (const { log, deleted } of listed.values()) log.archive.endListing(deleted);
      },
    };
  }

  /** Forgets a log whose archive is deleted; resolves when nothing is written to it any more. */
  async forget(id: string): Promise<void> {
    const log = this.#logs.get(id);
    this.#logs.delete(id);
    this.#waiting.delete(id);
    await log?.close();
  }

  #tick(): void {
    const now = Date.now();
    for (const [id, log] of this.#logs) if (log.isDue(now)) this.#waiting.add(id);
    this.#serve();
  }

  #serve(): void {
    const now = Date.now();
    for (const id of this.#waiting) {
      if (this.#served.size >= WORKERS) return;
      if (this.#served.has(id)) continue;
      this.#waiting.delete(id);
      // It may have failed, or begun to begin anew, since it began to wait.
      if (this.#logs.get(id)?.isDue(now) !== true) continue;
      this.#served.add(id);
      this.#turn(id).catch((error: unknown) =>
        this.#options.log.warn({ error, id }, "a pass over a log failed"),
      );
    }
  }

  async #turn(id: string): Promise<void> {
    try {
      const hasMore = (await this.#logs.get(id)?.turn()) ?? false;
      if (hasMore && Date.now() < this.#endsAt) this.#waiting.add(id);
      this.#options.onTurn(id);
    } finally {
      this.#served.delete(id);
      this.#serve();
      if (this.#served.size === 0) this.#idle?.();
    }
  }
}

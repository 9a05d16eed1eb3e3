// What a realtime server measures of itself: series of the last 30 days for the API, and the text that Prometheus reads.
import type { Log } from "../../lib/line-log.ts";
import { readSeries, writeSeries, writeSeriesSync } from "./file.ts";
import { newSeries, seriesBuckets, type Series } from "./series.ts";

export { prometheusText, type Metric } from "./prometheus.ts";

/** The state of a cluster or an application. The counters only grow in the life of one process, and begin at 0. */
export interface Sampled {
  id: string;
  connectionCount: number;
  messagesReceived: number;
  messagesSent: number;
}

export interface SeriesPoint {
  /** When the bucket of time begins, ISO 8601. */
  at: string;
  value: number;
}

/** A pause between samples counts as no more than this, so that a machine that slept does not outweigh what was measured. */
const MAX_WEIGHT_MS = 60_000;

interface Entry {
  series: Series;
  /** Received plus sent, as last seen in this process. */
  messages: number;
}

/**
 * Keeps four resolutions an id: minutes for 6 hours, 5 minutes for a day, half hours for 7 days, 2 hours for 30 days. That is 11 kB
 * an id in memory whatever happens, and less in the file, which is compressed. Times in which nothing was measured, as while the
 * process was down or before the application was there, are gaps: they have no point.
 */
export class Metrics {
  readonly #file: string;
  readonly #now: () => number;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  #sampledAtMs: number;
  #saving: Promise<void> = Promise.resolve();

  /** @param options.now milliseconds since 1970. */
  constructor(options: { file: string; now?: () => number; log: Log }) {
    this.#file = options.file;
    this.#now = options.now ?? Date.now;
    this.#log = options.log;
    this.#sampledAtMs = this.#now();
  }

  /** Takes over what an earlier process saved. A file that is damaged is set aside and logged; nothing is thrown. */
  load(): void {
    for (const [id, series] of readSeries(this.#file, this.#log)) {
      this.#entries.set(id, { series, messages: 0 });
    }
  }

  /**
   * Called every few seconds with everything there is. Connections hold for the time since the last call, or since this object was
   * made; messages are the difference since then.
   */
  sample(all: Sampled[]): void {
    const nowMs = this.#now();
    const passedMs = nowMs - this.#sampledAtMs;
    this.#sampledAtMs = nowMs;
    // The clock was set back, or has not moved: there is no time that the values could stand for.
    if (passedMs <= 0) return;
    const weightMs = Math.min(passedMs, MAX_WEIGHT_MS);
    for (const each of all) {
      const entry = this.#entryOf(each.id);
      const messages = each.messagesReceived + each.messagesSent;
      const rate = (Math.max(0, messages - entry.messages) * 1000) / passedMs;
      entry.messages = messages;
      for (const ring of entry.series) ring.add(nowMs, weightMs, each.connectionCount, rate);
    }
  }

  /** Writes everything in one step; failures are logged, since measuring must not end the server. */
  save(): Promise<void> {
    this.#saving = this.#saving
      .then(() => writeSeries(this.#file, this.#all()))
      .catch((error: unknown) => this.#log.error({ error }, "The metrics were not saved."));
    return this.#saving;
  }

  /** As `save`, for the end of a process. */
  saveSync(): void {
    try {
      writeSeriesSync(this.#file, this.#all());
    } catch (error) {
      this.#log.error({ error }, "The metrics were not saved.");
    }
  }

  /**
   * Oldest first, both with the same times; empty for an unknown id.
   * @param periodSeconds up to 30 days; decides the resolution.
   * @returns `connectionCount` is the average in a bucket of time, `messageRate` messages a second, received plus sent.
   */
  series(id: string, periodSeconds: number): { connectionCount: SeriesPoint[]; messageRate: SeriesPoint[] } {
    const entry = this.#entries.get(id);
    if (entry === undefined) return { connectionCount: [], messageRate: [] };
    const buckets = seriesBuckets(entry.series, this.#now(), periodSeconds * 1000);
    const at = buckets.map((each) => new Date(each.startMs).toISOString());
    const points = (of: "connectionCount" | "messageRate") =>
      buckets.map((each, index) => ({ at: at[index] ?? "", value: rounded(each[of]) }));
    return { connectionCount: points("connectionCount"), messageRate: points("messageRate") };
  }

  /** Forgets all others, such as removed applications. */
  forget(keepIds: Set<string>): void {
    for (const id of this.#entries.keys()) if (!keepIds.has(id)) this.#entries.delete(id);
  }

  #entryOf(id: string): Entry {
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = { series: newSeries(), messages: 0 };
      this.#entries.set(id, entry);
    }
    return entry;
  }

  #all(): Map<string, Series> {
    return new Map(Array.from(this.#entries, ([id, entry]) => [id, entry.series]));
  }
}

/** Single precision has seven digits; what lies behind is noise. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}

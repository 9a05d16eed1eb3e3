// The metrics of a realtime server: time series of the last 30 days for the API, and the text that Prometheus reads.
import type { Log } from "../../lib/line-log.ts";
import { readSeries, writeSeries, writeSeriesSync } from "./file.ts";
import { newSeries, seriesBuckets, type Series } from "./series.ts";

export { prometheusText, type Metric } from "./prometheus.ts";

/** The state of a cluster or an application. The counters begin at 0 and only grow in the life of a process. */
export interface Sampled {
  id: string;
  connectionCount: number;
  messagesReceived: number;
  messagesSent: number;
}

export interface SeriesPoint {
  /** The start of the bucket of time, ISO 8601. */
  at: string;
  value: number;
}

/** A pause between samples counts as no more than this, so that a suspended machine does not outweigh measured time. */
const MAX_WEIGHT_MS = 60_000;

interface Entry {
  series: Series;
  /** Received plus sent, as of the latest sample in this process. */
  messages: number;
}

/**
 * Keeps four resolutions for each id: minutes for 6 hours, 5 minutes for a day, half hours for 7 days, 2 hours for 30
 * days. That is always 11 kB of memory for each id, and less in the compressed file. Time without a measurement, while
 * the process was down or before the application existed, is a gap without points.
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

  /** Takes over the series that an earlier process saved. A damaged file is set aside and logged; nothing is thrown. */
  load(): void {
    for (const [id, series] of readSeries(this.#file, this.#log)) {
      this.#entries.set(id, { series, messages: 0 });
    }
  }

  /**
   * Called every few seconds with the state of all ids. Connections hold for the time since the last call, or since
   * this object was made; messages are the difference since then.
   */
  sample(all: Sampled[]): void {
    const nowMs = this.#now();
    const passedMs = nowMs - this.#sampledAtMs;
    this.#sampledAtMs = nowMs;
    // The clock was set back or has not moved, so the values stand for no time.
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

  /** Writes everything in one step; failures are logged, since metrics must not end the server. */
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
   * The points of an id, oldest first, both series with the same times; empty for an unknown id.
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

  /** Forgets all other ids, such as those of removed applications. */
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

/** Single precision has seven digits; the digits behind them are noise. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}

// The resolutions of the series of a cluster or an application.
import { Ring, type Bucket } from "./ring.ts";

const MINUTE_MS = 60_000;

/** Length and number of the buckets, finest first: 6 hours, a day, 7 days, 30 days. */
const RESOLUTIONS: [stepMs: number, length: number][] = [
  [MINUTE_MS, 360],
  [5 * MINUTE_MS, 288],
  [30 * MINUTE_MS, 336],
  [120 * MINUTE_MS, 360],
];

export type Series = Ring[];

export function newSeries(): Series {
  return RESOLUTIONS.map(([stepMs, length]) => new Ring(stepMs, length));
}

/** The measured buckets of the last `periodMs`, at the finest resolution that covers them; oldest first. */
export function seriesBuckets(series: Series, nowMs: number, periodMs: number): Bucket[] {
  const ring = series.find((each) => each.spanMs >= periodMs) ?? series.at(-1);
  return ring?.buckets(nowMs, periodMs) ?? [];
}

export function encodeSeries(series: Series): Uint8Array {
  return Buffer.concat(series.map((ring) => ring.encode()));
}

/** @throws RangeError when the bytes are not from `encodeSeries`. */
export function decodeSeries(bytes: Uint8Array): Series {
  const series = newSeries();
  let offset = 0;
  for (const ring of series) {
    ring.decode(bytes.subarray(offset, offset + ring.encodedBytes));
    offset += ring.encodedBytes;
  }
  if (offset !== bytes.byteLength) throw new RangeError("A series is too long.");
  return series;
}

// Makes the series of an answer from the stretches of a period.
import { answerTimeNames, answerTimes } from "../../../contracts/readings.ts";
import type { Amounts, Lines } from "../metrics-schema.ts";
import type { Figure } from "./columns.ts";
import type { ResourceMetrics, Stretch } from "./read.ts";

const SECONDS_PER_MINUTE = 60;
const DIGITS = 6;

/** The value of a line in a stretch; null where there is none, so that the point is left out. */
type LineValue = (stretch: Stretch) => number | null;

/** Lines with these labels. A stretch has a point when all its values are known. */
export function linesOf({ stretches }: ResourceMetrics, lines: Record<string, LineValue>): Lines {
  return seriesOf(stretches, Object.keys(lines), Object.values(lines));
}

/** Labels may repeat, as those of two background processes of a type do. */
function seriesOf(stretches: readonly Stretch[], labels: string[], values: readonly LineValue[]): Lines {
  const data = stretches.flatMap((stretch) => {
    const y = values.map((value) => value(stretch));
    return y.some((value) => value === null)
      ? []
      : [{ x: isoOf(stretch), y: y.map((value) => rounded(value ?? 0)) }];
  });
  const mean = (index: number) => data.reduce((total, { y }) => total + (y[index] ?? 0), 0) / data.length;
  const average = data.length === 0 ? [] : values.map((_, index) => rounded(mean(index)));
  return { labels, average, data };
}

/** A part of a resource with metrics of its own. */
interface Part {
  label: string;
  metrics: ResourceMetrics;
}

/** A line for each part of a resource. A stretch has a point when all parts have a value. */
export function linesOfParts(parts: readonly Part[], value: LineValue): Lines {
  const labels = parts.map(({ label }) => label);
  return seriesOf(parts[0]?.metrics.stretches ?? [], labels, valuesOf(parts, value));
}

/** A line with the greatest value of all parts, and at most 1. */
export function greatestOfParts(label: string, parts: readonly Part[], value: LineValue): Lines {
  const values = valuesOf(parts, value);
  const greatest: LineValue = (stretch) => Math.min(1, Math.max(0, ...values.map((of) => of(stretch) ?? 0)));
  return seriesOf(parts[0]?.metrics.stretches ?? [], [label], [greatest]);
}

/** The value of each part in a stretch of any of them. */
function valuesOf(parts: readonly Part[], value: LineValue): LineValue[] {
  return parts.map(({ metrics: { stretches } }) => {
    const ofPart = new Map(stretches.map((stretch) => [stretch.atMs, stretch]));
    return ({ atMs }) => {
      const stretch = ofPart.get(atMs);
      return stretch === undefined ? null : value(stretch);
    };
  });
}

/** What adds up in each stretch, and its total over the period. */
export function sumsOf({ stretches }: ResourceMetrics, ...figures: Figure[]): Amounts {
  const data = stretches.map((stretch) => ({ x: isoOf(stretch), y: sum(stretch, figures) }));
  return { data, total: data.reduce((total, { y }) => total + y, 0) };
}

/** A level at each stretch, and the last of them. */
export function levelOf({ stretches }: ResourceMetrics, value: LineValue): Amounts {
  const data = stretches.flatMap((stretch) => {
    const y = value(stretch);
    return y === null ? [] : [{ x: isoOf(stretch), y: rounded(y) }];
  });
  return { data, total: data.at(-1)?.y ?? 0 };
}

/** What adds up, for each second. Zero while the engine slept. */
export function perSecond(...figures: Figure[]): LineValue {
  return (stretch) => sum(stretch, figures) / (stretch.minutes * SECONDS_PER_MINUTE);
}

/** What adds up, in each stretch. */
export function countOf(...figures: Figure[]): LineValue {
  return (stretch) => sum(stretch, figures);
}

/** The time of a figure in milliseconds, in hours. */
export function hoursOf(figure: Figure): LineValue {
  return (stretch) => sum(stretch, [figure]) / 3_600_000;
}

/** The time of a figure in milliseconds, as a part of all time. */
export function shareOf(figure: Figure): LineValue {
  return (stretch) => sum(stretch, [figure]) / (stretch.minutes * SECONDS_PER_MINUTE * 1_000);
}

/** The mean time until an answer began, in milliseconds; no point for times without a timed answer. */
export const meanAnswerMs: LineValue = (stretch) => {
  const answers = sum(stretch, answerTimeNames);
  return answers === 0 ? null : sum(stretch, ["responseMs"]) / answers;
};

/** The time within which a share of the answers began, in milliseconds, from the counts between two times. */
export function answerMsOf(share: number): LineValue {
  return (stretch) => {
    let left = sum(stretch, answerTimeNames) * share;
    if (left === 0) return null;
    let fromMs = 0;
    for (const name of answerTimeNames) {
      const [count, untilMs] = [sum(stretch, [name]), answerTimes[name]];
      if (count > 0 && left <= count)
        return Number.isFinite(untilMs) ? fromMs + ((untilMs - fromMs) * left) / count : fromMs;
      left -= count;
      if (Number.isFinite(untilMs)) fromMs = untilMs;
    }
    return fromMs;
  };
}

/** The mean of a figure, with zero for the minutes in which the engine slept. */
export function meanOf(figure: Figure): LineValue {
  return ({ minutes, figures }) =>
    figures === null ? 0 : ((figures[figure] ?? 0) * figures.minutes) / minutes;
}

/** The mean of a figure while the process ran; no point for times without a process. */
export function runningMeanOf(figure: Figure): LineValue {
  return ({ figures }) => figures?.[figure] ?? null;
}

/**
 * What adds up, for each second in which the process ran. No point for times without a process, nor for those in which it
 * answered no question about these figures: what it counted then comes with its next answer.
 */
export function runningRateOf(...names: Figure[]): LineValue {
  return (stretch) => {
    const { figures } = stretch;
    if (figures === null || names.every((name) => figures[name] === undefined)) return null;
    return sum(stretch, names) / (figures.minutes * SECONDS_PER_MINUTE);
  };
}

/** The time of a figure in milliseconds, as a part of the time in which the process ran. */
export function runningShareOf(figure: Figure): LineValue {
  const rate = runningRateOf(figure);
  return (stretch) => {
    const ms = rate(stretch);
    return ms === null ? null : ms / 1_000;
  };
}

/** The disk use of all instances, which stays as it is while an engine sleeps. */
export function storageOf(metrics: ResourceMetrics): LineValue {
  const { stretches } = metrics;
  const known = new Map(Object.keys(metrics.storageBytes).map((id) => [id, firstStorageOf(metrics, id)]));
  const byStretch = new Map(
    stretches.map(({ atMs, storageBytes }) => {
      for (const [id, bytes] of Object.entries(storageBytes)) known.set(id, bytes);
      return [atMs, [...known.values()].reduce((total, bytes) => total + bytes, 0)] as const;
    }),
  );
  return ({ atMs }) => byStretch.get(atMs) ?? null;
}

/** The disk use of an instance before it was measured in the period. A replica may be younger than the period. */
function firstStorageOf({ id, stretches, storageBytes }: ResourceMetrics, instance: string): number {
  const first = stretches.find((stretch) => stretch.storageBytes[instance] !== undefined);
  if (first === undefined) return storageBytes[instance] ?? 0;
  return instance === id ? (first.storageBytes[instance] ?? 0) : 0;
}

/** The part of a figure in the sum of both; null where both are zero. */
export function ratioOf(part: Figure, rest: Figure): LineValue {
  return (stretch) => {
    const whole = sum(stretch, [part, rest]);
    return whole === 0 ? null : sum(stretch, [part]) / whole;
  };
}

function sum({ figures }: Stretch, names: readonly Figure[]): number {
  return names.reduce((total, name) => total + (figures?.[name] ?? 0), 0);
}

function isoOf({ atMs }: Stretch): string {
  return new Date(atMs).toISOString();
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

// A model of usage: lives of resources made from a seed, with the truth about each day computed in the plainest way.
import type { JournalRecord } from "../../../src/contracts/journal.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A time in which the resource did one thing; `untilMs` may lie in the future. */
interface Interval {
  what: "awake" | "asleep" | "uncertain";
  fromMs: number;
  untilMs: number;
}

/** The life of a resource: what its host records, and what its owner does. */
export interface PlannedLife {
  createdMs: number;
  deletedMs: number | null;
  /** The size from a time on, as an index into the sizes of the kind. */
  sizes: { atMs: number; size: number }[];
  records: Omit<JournalRecord, "id" | "sequence">[];
  intervals: Interval[];
}

/** What the model expects of a day. */
export interface ExpectedDay {
  awakeMs: number;
  asleepMs: number;
  uncertainMs: number;
  awakeMibMs: number;
  asleepMibMs: number;
}

type Random = () => number;

const upTo = (random: Random, most: number) => Math.floor(random() * most);
const stamp = (ms: number) => new Date(ms).toISOString();

/** Plans a life between two times, which the plan never exceeds except by a state that lasts. */
export function planLife(random: Random, fromMs: number, nowMs: number, sizeCount: number): PlannedLife {
  const createdMs = fromMs + upTo(random, (nowMs - fromMs) / 2);
  const endMs = random() < 0.4 ? createdMs + upTo(random, nowMs - createdMs) : nowMs;
  const plan: PlannedLife = {
    createdMs,
    deletedMs: endMs < nowMs ? endMs : null,
    sizes: [{ atMs: createdMs, size: upTo(random, sizeCount) }],
    records: [],
    intervals: [],
  };
  for (let atMs = createdMs + 1 + upTo(random, 5_000); atMs < endMs;)
    atMs = planRun(plan, random, atMs, endMs);
  for (let changes = upTo(random, 5); changes > 0; changes--) {
    const atMs = createdMs + 1 + upTo(random, Math.max(1, endMs - createdMs - 2));
    if (atMs < endMs) plan.sizes.push({ atMs, size: upTo(random, sizeCount) });
  }
  plan.sizes.sort((one, other) => one.atMs - other.atMs);
  return plan;
}

/** One process, how it ends, and what follows. @returns when the next process begins. */
function planRun(plan: PlannedLife, random: Random, startMs: number, endMs: number): number {
  plan.records.push({ at: stamp(startMs), type: random() < 0.8 ? "started" : "restarted", details: {} });
  const stopMs = startMs + 1 + durationOf(random);
  if (stopMs >= endMs) {
    plan.intervals.push({ what: "awake", fromMs: startMs, untilMs: endMs });
    return endMs;
  }
  const isUnseen = random() < 0.15;
  const seenMs = isUnseen ? startMs + upTo(random, stopMs - startMs) : stopMs;
  plan.intervals.push({ what: "awake", fromMs: startMs, untilMs: seenMs });
  plan.intervals.push({ what: "uncertain", fromMs: seenMs, untilMs: stopMs });
  plan.records.push({
    at: stamp(stopMs),
    type: isUnseen || random() < 0.7 ? "stopped" : "crashed",
    details: isUnseen ? { not_before: stamp(seenMs) } : {},
  });
  const sleepMs = stopMs + upTo(random, 3);
  if (random() < 0.3 || sleepMs >= endMs) return stopMs + upTo(random, 600_000);
  plan.records.push({ at: stamp(sleepMs), type: "asleep", details: {} });
  const wakeMs = Math.min(endMs, sleepMs + 1 + durationOf(random));
  const failMs = sleepMs + upTo(random, wakeMs - sleepMs);
  const hasFailed = random() < 0.1;
  if (hasFailed) plan.records.push({ at: stamp(failMs), type: "failed", details: { reason: "No memory." } });
  plan.intervals.push({ what: "asleep", fromMs: sleepMs, untilMs: hasFailed ? failMs : wakeMs });
  return wakeMs;
}

/** Mostly minutes and hours, sometimes days, and sometimes exactly until midnight. */
function durationOf(random: Random): number {
  const kind = random();
  if (kind < 0.3) return upTo(random, 120_000);
  if (kind < 0.85) return upTo(random, 9 * HOUR_MS);
  return upTo(random, 5 * DAY_MS);
}

/** The truth about each day of a life, up to a time. @param mebibytes the memory of each size. */
export function expectedDays(
  { intervals, sizes }: PlannedLife,
  mebibytes: readonly number[],
  nowMs: number,
): Map<string, ExpectedDay> {
  const days = new Map<string, ExpectedDay>();
  for (const { what, fromMs, untilMs } of intervals) {
    for (const [index, { atMs, size }] of sizes.entries()) {
      const sizeFromMs = index === 0 ? -Infinity : atMs;
      const sizeUntilMs = sizes[index + 1]?.atMs ?? Infinity;
      for (
        let dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS;
        dayMs < Math.min(untilMs, nowMs);
        dayMs += DAY_MS
      ) {
        const beginMs = Math.max(fromMs, sizeFromMs, dayMs);
        const endMs = Math.min(untilMs, sizeUntilMs, dayMs + DAY_MS, nowMs);
        const name = stamp(dayMs).slice(0, 10);
        const day = days.get(name) ?? {
          awakeMs: 0,
          asleepMs: 0,
          uncertainMs: 0,
          awakeMibMs: 0,
          asleepMibMs: 0,
        };
        days.set(name, day);
        const ms = Math.max(0, endMs - beginMs);
        if (what === "uncertain") day.uncertainMs += ms;
        if (what === "awake") day.awakeMs += ms;
        if (what === "asleep") day.asleepMs += ms;
        if (what === "awake") day.awakeMibMs += ms * (mebibytes[size] ?? 0);
        if (what === "asleep") day.asleepMibMs += ms * (mebibytes[size] ?? 0);
      }
    }
  }
  return days;
}

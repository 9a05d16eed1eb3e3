// Adds up how long the engine of an instance had a process, out of its events.
import type { EventType } from "../event-schema.ts";

/** What counts of an event. */
export interface LifeEvent {
  type: EventType;
  /** Milliseconds since 1970. */
  atMs: number;
  details: Record<string, unknown>;
}

/** How long an instance was awake. */
export interface AwakeTime {
  /** What is certain. */
  ms: number;
  /** By how much it may have been more: ends that no host has seen. */
  uncertainMs: number;
  /** Whether nothing is missing in between. */
  isComplete: boolean;
}

/**
 * Adds up the time within a period. Only processes count, so that it does not matter who was asleep, killed or away.
 * @param events of one instance, all of them since its creation or since an end of its process, in the order of their times.
 * @param period in milliseconds since 1970; a process that still runs counts until its end.
 */
export function awakeTime(
  events: readonly LifeEvent[],
  period: { fromMs: number; untilMs: number },
): AwakeTime {
  const sum: AwakeTime = { ms: 0, uncertainMs: 0, isComplete: true };
  let beganAtMs: number | null = null;
  for (const { type, atMs, details } of events) {
    if (type === "gap") sum.isComplete = false;
    if (type === "started" || type === "restarted") {
      if (beganAtMs !== null) sum.isComplete = false;
      beganAtMs = atMs;
    }
    if (type !== "stopped" && type !== "crashed") continue;
    if (beganAtMs === null) {
      sum.isComplete = false;
      continue;
    }
    const seenUntilMs = momentIn(details.not_before) ?? atMs;
    sum.ms += overlapMs(period, beganAtMs, seenUntilMs);
    sum.uncertainMs += overlapMs(period, seenUntilMs, atMs);
    beganAtMs = null;
  }
  if (beganAtMs !== null) sum.ms += overlapMs(period, beganAtMs, period.untilMs);
  return sum;
}

function overlapMs(
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
  beginMs: number,
  endMs: number,
): number {
  return Math.max(0, Math.min(untilMs, endMs) - Math.max(fromMs, beginMs));
}

function momentIn(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

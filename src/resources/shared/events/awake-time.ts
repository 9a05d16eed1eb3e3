// Computes from the events of an instance how long its engine had a process.
import type { EventType } from "../event-schema.ts";

/** The part of an event that the computation uses. */
export interface LifeEvent {
  type: EventType;
  /** Milliseconds since 1970. */
  atMs: number;
  details: Record<string, unknown>;
}

/** How long an instance was awake. */
export interface AwakeTime {
  /** The time that the events prove. */
  ms: number;
  /** The most that may be missing, because no host saw the end of a process. */
  uncertainMs: number;
  /** Whether the events leave no gap. */
  isComplete: boolean;
}

/**
 * Adds up the awake time within a period. Only processes count, so it does not matter why a process ended.
 * @param events of one instance, in the order of their times: all since its creation, or all since an end of its
 * process.
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

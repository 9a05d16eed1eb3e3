// Computes from the events of an instance when its engine had a process, and when the instance slept.
import type { EventType } from "../event-schema.ts";

/** The part of an event that the computation uses. */
export interface LifeEvent {
  type: EventType;
  /** Milliseconds since 1970. */
  atMs: number;
  details: Record<string, unknown>;
}

/** What an instance does: its engine has a process, it sleeps, or neither. */
export type LifeState = "awake" | "asleep" | "stopped";

/** A time in which an instance did the same. */
export interface LifeSpan {
  /** `uncertain`: the engine had a process at the beginning and none at the end, and no host saw when it ended. */
  state: "awake" | "asleep" | "uncertain";
  fromMs: number;
  untilMs: number;
}

/** The life of an instance in a period. */
export interface Life {
  /** In order, without overlaps; nothing stands for the times in which the instance was stopped. */
  spans: LifeSpan[];
  /** The state at the end of the period. */
  state: LifeState;
  /** When the events leave a gap. */
  gapsMs: number[];
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
 * Follows an instance through its events. Only processes count, so it does not matter why a process ended.
 * @param events of one instance, in the order of their times.
 * @param begin the state before the first event, and when the period begins.
 * @param untilMs the end of the period; what lasts longer is cut.
 */
export function lifeOf(
  events: readonly LifeEvent[],
  begin: { state: LifeState; fromMs: number },
  untilMs: number,
): Life {
  const life: Life = { spans: [], state: begin.state, gapsMs: [] };
  let sinceMs = begin.fromMs;
  const add = (state: LifeSpan["state"], fromMs: number, endMs: number) => {
    const span = { state, fromMs: Math.max(fromMs, begin.fromMs), untilMs: Math.min(endMs, untilMs) };
    if (span.untilMs > span.fromMs) life.spans.push(span);
  };
  const enter = (state: LifeState, atMs: number, seenUntilMs = atMs) => {
    const seenMs = Math.max(sinceMs, seenUntilMs);
    if (life.state !== "stopped") add(life.state, sinceMs, seenMs);
    if (life.state === "awake") add("uncertain", seenMs, atMs);
    life.state = state;
    sinceMs = atMs;
  };
  for (const { type, atMs, details } of events) {
    if (type === "gap" || isContradiction(type, life.state)) life.gapsMs.push(atMs);
    const next = stateAfter(type, life.state);
    if (next !== life.state) enter(next, atMs, momentIn(details.not_before) ?? atMs);
  }
  const { state } = life;
  enter(state, Math.max(untilMs, sinceMs));
  return life;
}

/**
 * Adds up the awake time within a period.
 * @param events of one instance, in the order of their times: all since its creation, or all since an end of its
 * process.
 * @param period in milliseconds since 1970; a process that still runs counts until its end.
 */
export function awakeTime(
  events: readonly LifeEvent[],
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): AwakeTime {
  const beginMs = Math.min(fromMs, events[0]?.atMs ?? fromMs);
  const { spans, gapsMs } = lifeOf(events, { state: "stopped", fromMs: beginMs }, untilMs);
  const sum = (wanted: LifeSpan["state"]) =>
    spans
      .filter(({ state }) => state === wanted)
      .reduce((ms, span) => ms + Math.max(0, span.untilMs - Math.max(fromMs, span.fromMs)), 0);
  return { ms: sum("awake"), uncertainMs: sum("uncertain"), isComplete: gapsMs.length === 0 };
}

function stateAfter(type: EventType, state: LifeState): LifeState {
  switch (type) {
    case "started":
    case "restarted":
      return "awake";
    case "stopped":
    case "crashed":
      return state === "awake" ? "stopped" : state;
    case "asleep":
      return "asleep";
    case "failed":
    case "disk_full":
      return state === "asleep" ? "stopped" : state;
    default:
      return state;
  }
}

/** Whether an event that belongs between the two is missing. */
function isContradiction(type: EventType, state: LifeState): boolean {
  if (type === "started" || type === "restarted" || type === "asleep") return state === "awake";
  return (type === "stopped" || type === "crashed") && state !== "awake";
}

function momentIn(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

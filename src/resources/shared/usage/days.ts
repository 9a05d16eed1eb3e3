// Divides the life of a resource into days in UTC, with the size in force at each instant.
import type { Life, LifeSpan, LifeState } from "../events/awake-time.ts";

export const DAY_MS = 86_400_000;
const MEBIBYTE = 1024 ** 2;

/** The memory that a resource's order stands for, from a time on. */
export interface Size {
  sinceMs: number;
  memoryBytes: number;
}

/** What a resource did on one day. The products are milliseconds times mebibytes. */
export interface DayOfLife {
  /** Such as `2026-11-23`. */
  day: string;
  awakeMs: number;
  awakeMibMs: number;
  uncertainMs: number;
  asleepMs: number;
  asleepMibMs: number;
  isComplete: boolean;
  /** The state at the end of the day, or of the period on its last day. */
  state: LifeState;
}

/** The beginning of the day of a time, both in milliseconds since 1970. */
export function dayStart(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

/** The date of a time in UTC. */
export function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/**
 * The days of a period, also those on which nothing happened.
 * @param sizes in the order of their times; the first one also counts before its time.
 */
export function daysOf(
  { spans, state, gapsMs }: Life,
  sizes: readonly Size[],
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): DayOfLife[] {
  const days = new Map<number, DayOfLife>();
  for (let startMs = dayStart(fromMs); startMs < untilMs; startMs += DAY_MS) {
    const isComplete = !gapsMs.some((gapMs) => dayStart(gapMs) === startMs);
    days.set(startMs, { ...emptyDay(startMs), isComplete, state: "stopped" });
  }
  for (const span of spans) {
    for (const piece of piecesOf(span, sizes)) {
      const day = days.get(dayStart(piece.fromMs));
      if (day === undefined) continue;
      addPiece(day, piece);
      // The state that lasts at midnight, since a span that ends then is followed by the next day's.
      if (piece.untilMs % DAY_MS === 0) day.state = piece.state === "uncertain" ? "awake" : piece.state;
    }
  }
  const last = days.get(dayStart(untilMs - 1));
  if (last !== undefined && untilMs % DAY_MS !== 0) last.state = state;
  return [...days.values()];
}

function emptyDay(startMs: number) {
  return { day: dateOf(startMs), awakeMs: 0, awakeMibMs: 0, uncertainMs: 0, asleepMs: 0, asleepMibMs: 0 };
}

interface Piece extends LifeSpan {
  mebibytes: number;
}

/** The parts of a span between midnights and changes of size. */
function* piecesOf({ state, fromMs, untilMs }: LifeSpan, sizes: readonly Size[]): Generator<Piece> {
  for (let atMs = fromMs; atMs < untilMs;) {
    const beginMs = atMs;
    const memoryBytes = (sizes.findLast(({ sinceMs }) => sinceMs <= beginMs) ?? sizes[0])?.memoryBytes ?? 0;
    const changeMs = sizes.find(({ sinceMs }) => sinceMs > beginMs)?.sinceMs ?? untilMs;
    atMs = Math.min(untilMs, dayStart(beginMs) + DAY_MS, changeMs);
    yield { state, fromMs: beginMs, untilMs: atMs, mebibytes: Math.round(memoryBytes / MEBIBYTE) };
  }
}

function addPiece(day: DayOfLife, { state, fromMs, untilMs, mebibytes }: Piece): void {
  const ms = untilMs - fromMs;
  if (state === "uncertain") {
    day.uncertainMs += ms;
    return;
  }
  const [time, product] =
    state === "awake" ? (["awakeMs", "awakeMibMs"] as const) : (["asleepMs", "asleepMibMs"] as const);
  day[time] += ms;
  day[product] += ms * mebibytes;
}

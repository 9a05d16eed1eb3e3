// Instants with microseconds: as the API has them, as people write them, and as places on a line of time.

/** Microseconds since 1970. They fit into a number until the year 2255. */
export type Micros = number;

/** A stretch of time with both its ends. */
export interface Stretch {
  from: Micros;
  until: Micros;
}

export const SECOND: Micros = 1_000_000;
export const MINUTE: Micros = 60 * SECOND;
export const HOUR: Micros = 60 * MINUTE;
export const DAY: Micros = 24 * HOUR;

/** An instant of the API, such as `2026-03-15T08:18:53.204112Z`. */
export function microsOf(iso: string): Micros {
  const [, digits = ""] = /\.(\d+)/.exec(iso) ?? [];
  const wholeMs = Date.parse(iso.replace(/\.\d+/, ""));
  return wholeMs * 1_000 + Number(digits.slice(0, 6).padEnd(6, "0"));
}

/** An instant as the API takes it. */
export function isoOf(at: Micros): string {
  return `${new Date(Math.floor(at / SECOND) * 1_000).toISOString().slice(0, 19)}.${digitsOf(at)}Z`;
}

/** An instant in the time zone of the reader, such as `2026-03-15 10:18:53.204112`. */
export function textOf(at: Micros): string {
  const date = new Date(Math.floor(at / SECOND) * 1_000);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join("-");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
  const digits = digitsOf(at).replace(/0+$/, "");
  return `${day} ${clock}${digits === "" ? "" : `.${digits}`}`;
}

function digitsOf(at: Micros): string {
  return String(at - Math.floor(at / SECOND) * SECOND).padStart(6, "0");
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

const UNITS: Record<string, Micros> = { second: SECOND, minute: MINUTE, hour: HOUR, day: DAY };

const AGO = /^(\d{1,6}) ?(second|minute|hour|day)s? ago$/;
const WRITTEN = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?: ?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * An instant as people write it: `10 minutes ago`, `now`, or a date and a time, which is that of the reader's time zone
 * unless it has an offset. Undefined for any other text.
 */
export function instantIn(text: string, now: Micros): Micros | undefined {
  const given = text.trim();
  if (given === "now") return now;
  const [, count, unit = ""] = AGO.exec(given) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  if (!WRITTEN.test(given)) return undefined;
  const at = microsOf(given.replace(/^(\S+) /, "$1T").replace(" ", ""));
  return Number.isNaN(at) ? undefined : at;
}

/** The instant of a stretch that is nearest to an instant. */
export function nearest({ from, until }: Stretch, at: Micros): Micros {
  return Math.min(until, Math.max(from, at));
}

/** The part of a stretch that is so long and has an instant in its middle, as far as the stretch has room. */
export function viewAround(whole: Stretch, at: Micros, length: Micros): Stretch {
  if (length >= whole.until - whole.from) return whole;
  const from = Math.round(nearest({ from: whole.from, until: whole.until - length }, at - length / 2));
  return { from, until: from + length };
}

/** The place of an instant in a stretch, from 0 to 1; outside of these for an instant outside. */
export function shareOf({ from, until }: Stretch, at: Micros): number {
  return until === from ? 1 : (at - from) / (until - from);
}

/** The instant at a place of a stretch, to the precision that a place on a screen has: a thousandth of the stretch. */
export function instantAt(stretch: Stretch, share: number): Micros {
  const length = stretch.until - stretch.from;
  const grain = GRAINS.findLast((each) => each <= length / 1_000) ?? 1_000;
  const exact = stretch.from + share * length;
  return nearest(stretch, Math.round(exact / grain) * grain);
}

const GRAINS: readonly Micros[] = [
  1_000,
  10_000,
  100_000,
  SECOND,
  5 * SECOND,
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
];

const STEPS: readonly Micros[] = [
  ...[1, 2, 5, 10, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10].map((count) => count * DAY),
];

/** Round times of the reader's time zone in a stretch. @param most how many there is room for. */
export function ticksOf({ from, until }: Stretch, most: number): { at: Micros; step: Micros }[] {
  const step = STEPS.find((each) => (until - from) / each <= most) ?? 10 * DAY;
  const offset = new Date(until / 1_000).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= until; at += step) {
    ticks.push({ at, step });
  }
  return ticks;
}

/** The instant after a key; undefined for a key without a meaning here. */
export function instantAfter(
  { key, shiftKey }: { key: string; shiftKey: boolean },
  at: Micros,
  whole: Stretch,
): Micros | undefined {
  const step = shiftKey ? MINUTE : SECOND;
  const moves: Record<string, Micros> = {
    ArrowLeft: at - step,
    ArrowDown: at - step,
    ArrowRight: at + step,
    ArrowUp: at + step,
    PageDown: at - MINUTE,
    PageUp: at + MINUTE,
    Home: whole.from,
    End: whole.until,
  };
  const next = moves[key];
  return next === undefined ? undefined : nearest(whole, next);
}

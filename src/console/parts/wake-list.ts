// The times awake of an instance, from its events.
import type { EventResource } from "../../sdk/index.ts";

/** A time awake, from its wake to its sleep. */
export interface Awake {
  /** The id of the event that it is known by. */
  id: string;
  /** ISO 8601; null where the wake is not among the events. */
  from: string | null;
  /** When it fell asleep; null while it is awake, or where that is not known. */
  until: string | null;
  /** Whether it is awake now. */
  isNow: boolean;
  /** The client or the operation that woke it, as far as it is known. */
  wokenBy: string;
  /** How long the parts of the wake took, in their order. */
  spans: { name: string; ms: number }[];
}

/** @param events of the types `awake` and `asleep`, the newest first. @returns the newest first. */
export function awakesOf(events: readonly EventResource[]): Awake[] {
  const awakes: Awake[] = [];
  let sleep: EventResource | null = null;
  for (const event of events) {
    const isWake = event.attributes.type === "awake";
    if (!isWake && event.attributes.type !== "asleep") continue;
    if (isWake) awakes.push(awakeOf(event, sleep, awakes.length === 0 && sleep === null));
    else if (sleep !== null) awakes.push(endOf(sleep));
    sleep = isWake ? null : event;
  }
  return sleep === null ? awakes : [...awakes, endOf(sleep)];
}

function awakeOf(wake: EventResource, sleep: EventResource | null, isNow: boolean): Awake {
  const { occurred_at: from, details } = wake.attributes;
  return {
    id: wake.id,
    from,
    until: sleep?.attributes.occurred_at ?? null,
    isNow,
    wokenBy: wokenBy(details),
    spans: spansIn(details.spans_ms),
  };
}

/** The end of a time awake whose wake is not among the events, such as the time after the creation. */
function endOf({ id, attributes }: EventResource): Awake {
  return { id, from: null, until: attributes.occurred_at, isNow: false, wokenBy: "", spans: [] };
}

/** Such as `psql as app from 10.0.0.7:51324, database main`. */
function wokenBy({ user, application, database, address }: Record<string, unknown>): string {
  const by = [application, user].filter((each) => typeof each === "string").join(" as ");
  const from = typeof address === "string" ? ` from ${address}` : "";
  return `${by}${from}${typeof database === "string" ? `, database ${database}` : ""}`;
}

const SPANS = ["accept", "auth", "start", "ready", "login"];

function spansIn(value: unknown): Awake["spans"] {
  const spans = new Map<string, unknown>(Object.entries(value ?? {}));
  return SPANS.flatMap((name) => {
    const ms = spans.get(name);
    return typeof ms === "number" ? [{ name, ms }] : [];
  });
}

const UNITS: [name: string, ms: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** A length of time in its largest unit and the next one. */
export function durationText(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return "less than a second";
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? "" : `${count} ${name}${count === 1 ? "" : "s"}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}

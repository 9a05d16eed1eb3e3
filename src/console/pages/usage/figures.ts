// Usage in units that people read, and the figures that the chart by day can show.
import type { UsageAmounts } from "../../../sdk/index.ts";

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3_600;
const GIGABYTE_MIB = 1_024;

/** A smaller saving is worth no sentence. */
const LEAST_TIMES = 1.1;

const ratio = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 });
const amount = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });

/** Milliseconds as hours. */
export function hoursOf(ms: number): number {
  return ms / HOUR_MS;
}

/** Mebibytes times seconds as gigabytes times hours. */
function gigabyteHoursOf(mebibyteSeconds: number): number {
  return mebibyteSeconds / GIGABYTE_MIB / HOUR_SECONDS;
}

export function hoursText(ms: number): string {
  return `${amount.format(hoursOf(ms))} h`;
}

export function gigabyteHoursText(mebibyteSeconds: number): string {
  return `${amount.format(gigabyteHoursOf(mebibyteSeconds))} GB-h`;
}

export function storageText(byteHours: number): string {
  return `${amount.format(byteHours / 1e9)} GB-h`;
}

export function countText(count: number): string {
  return compact.format(count);
}

/** The part of the memory that sleeping saved, rounded down to a percent; undefined when nothing counts. */
export function savedPercent({
  awake_mib_seconds: awake,
  saved_mib_seconds: saved,
}: UsageAmounts): number | undefined {
  return awake + saved === 0 ? undefined : Math.floor((100 * saved) / (awake + saved));
}

/** How many times as much memory always being awake takes, such as `4`; undefined without a saving that counts. */
export function timesText({
  awake_mib_seconds: awake,
  saved_mib_seconds: saved,
}: UsageAmounts): string | undefined {
  const times = (awake + saved) / awake;
  return Number.isFinite(times) && times >= LEAST_TIMES ? ratio.format(times) : undefined;
}

/** A figure of a day: one part, or two parts that stand on each other. */
export interface Figure {
  label: string;
  unit: string;
  parts: readonly { name: string; of: (day: UsageAmounts) => number }[];
}

const FIGURES = {
  memory: {
    label: "Memory",
    unit: "GB-hours",
    parts: [
      { name: "awake", of: (day) => gigabyteHoursOf(day.awake_mib_seconds) },
      { name: "saved by sleeping", of: (day) => gigabyteHoursOf(day.saved_mib_seconds) },
    ],
  },
  time: {
    label: "Time",
    unit: "hours",
    parts: [
      { name: "awake", of: (day) => hoursOf(day.awake_ms) },
      { name: "asleep", of: (day) => hoursOf(day.asleep_ms) },
    ],
  },
  disk: {
    label: "Disk",
    unit: "GB-hours",
    parts: [{ name: "on the disk", of: (day) => day.storage_byte_hours / 1e9 }],
  },
  messages: {
    label: "Messages",
    unit: "messages",
    parts: [
      { name: "sent", of: (day) => day.messages_sent ?? 0 },
      { name: "received", of: (day) => day.messages_received ?? 0 },
    ],
  },
  clients: {
    label: "Clients",
    unit: "clients at most",
    parts: [{ name: "at most", of: (day) => day.max_connections }],
  },
} as const satisfies Record<string, Figure>;

export type FigureName = keyof typeof FIGURES;

export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

export function figureOf(name: FigureName): Figure {
  return FIGURES[name];
}

/** The figures that a month has: only WebSocket clusters have messages. */
export function figuresIn({ messages_sent: messages }: UsageAmounts): FigureName[] {
  return FIGURE_NAMES.filter((name) => messages !== null || name !== "messages");
}

/** A value of a figure with its unit. */
export function figureText({ unit }: Figure, value: number): string {
  return `${amount.format(value)} ${unit}`;
}

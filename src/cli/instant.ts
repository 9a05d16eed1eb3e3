// Reads an instant as people write it: a time with its offset, or how long ago it was.
import { InvalidArgumentError } from "commander";

const UNIT_MS: Record<string, number> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const AGO = /^(\d{1,6}) ?(second|minute|hour|day)s? ago$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

/** The instant in ISO 8601. @param nowMs what `ago` counts from. */
export function instantOf(text: string, nowMs = Date.now()): string {
  const [, count, unit = ""] = AGO.exec(text) ?? [];
  if (count !== undefined) return new Date(nowMs - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
  if (!ISO.test(text) || Number.isNaN(Date.parse(text))) {
    throw new InvalidArgumentError("It must be such as '10 minutes ago' or 2026-03-15T08:00:00Z.");
  }
  return /T\d\d:\d\d(Z|[+-])/.test(text) ? text.replace(/T(\d\d:\d\d)/, "T$1:00") : text;
}

// The end of a token as people write it.
import { InvalidArgumentError } from "commander";

const HOURS: Record<string, number> = { h: 1, d: 24, y: 24 * 365 };
const HOUR_MS = 3_600_000;
const LAST_YEAR = 9_999;

/** Reads `12h`, `30d`, `1y` or an ISO date. @returns ISO 8601. */
export function expiry(text: string): string {
  const [, count, unit = ""] = /^([1-9]\d{0,4})([hdy])$/.exec(text) ?? [];
  const isDate = /^\d{4}-\d\d-\d\d/.test(text);
  const atMs =
    count === undefined
      ? Date.parse(isDate ? text : "")
      : Date.now() + Number(count) * (HOURS[unit] ?? 0) * HOUR_MS;
  if (atMs > Date.now() && new Date(atMs).getUTCFullYear() <= LAST_YEAR) return new Date(atMs).toISOString();
  throw new InvalidArgumentError("It must be a time to come, such as 12h, 30d, 1y or an ISO date.");
}

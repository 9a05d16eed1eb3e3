// Times in requests.
import { z } from "zod";

/** Far longer than a time with nanoseconds and an offset; a fraction could else have any number of digits. */
const MAX_CHARACTERS = 64;

/**
 * A time in a request, with any offset. A time that the store does not have, such as of the year 0, is refused.
 * @param example a time of the field, for its error.
 */
export function momentField(example: string) {
  const error = `must be a time such as ${example}`;
  return z.iso
    .datetime({ offset: true, error })
    .max(MAX_CHARACTERS, error)
    .refine((text) => Number.isNaN(Date.parse(text)) || !inUtc(text).startsWith("0000"), error);
}

/** A time in UTC with microseconds. The digits of its seconds stay, since a `Date` has milliseconds only. */
export function inUtc(moment: string): string {
  const [, digits = ""] = /\.(\d+)/.exec(moment) ?? [];
  const seconds = new Date(Date.parse(moment)).toISOString().slice(0, 19);
  return `${seconds}.${digits.slice(0, 6).padEnd(6, "0")}Z`;
}

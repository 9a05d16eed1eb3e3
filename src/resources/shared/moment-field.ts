// Times in requests.
import { z } from "zod";

/** Far longer than a time with nanoseconds and an offset; a fraction could else have any number of digits. */
const MAX_CHARACTERS = 64;

/** A time before the year 0 or after the year 9999 begins with a sign. */
const USUAL_YEAR = /^(?!0000)\d{4}-/;

/**
 * A time in a request, with any offset. A time whose year in UTC has not four digits, or is 0, is refused: the store has
 * no such year, or answers could not show it.
 * @param example a time of the field, for its error.
 */
export function momentField(example: string) {
  const error = `must be a time such as ${example}`;
  return z.iso
    .datetime({ offset: true, error })
    .max(MAX_CHARACTERS, error)
    .refine((text) => Number.isNaN(Date.parse(text)) || USUAL_YEAR.test(inUtc(text)), error);
}

/** A time in UTC with microseconds. The digits of its seconds stay, since a `Date` has milliseconds only. */
export function inUtc(moment: string): string {
  const [, digits = ""] = /\.(\d+)/.exec(moment) ?? [];
  const seconds = new Date(Date.parse(moment)).toISOString().slice(0, 19);
  return `${seconds}.${digits.slice(0, 6).padEnd(6, "0")}Z`;
}

// Instants in microseconds, which is the grain of Postgres' commits.

const INSTANT = /^(.*?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)$/;
const MICROSECONDS_PER_MS = 1000;
const FRACTION_DIGITS = 6;

/** Microseconds since 1970 of an instant in ISO 8601; `Date` would cut it to milliseconds. */
export function microsecondsOf(instant: string): number {
  const match = INSTANT.exec(instant);
  const whole = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (Number.isNaN(whole)) throw new Error(`${JSON.stringify(instant)} is no instant`);
  const fraction = (match?.[2] ?? "").padEnd(FRACTION_DIGITS, "0").slice(0, FRACTION_DIGITS);
  return whole * MICROSECONDS_PER_MS + Number(fraction);
}

// Values of metrics for people.
import { bytesText } from "../sizes.ts";

const DIGITS = 3;
const MS_PER_SECOND = 1_000;
const number = new Intl.NumberFormat(undefined, { maximumSignificantDigits: DIGITS });
const compact = new Intl.NumberFormat(undefined, {
  notation: "compact",
  maximumSignificantDigits: DIGITS,
});
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumSignificantDigits: DIGITS });

interface UnitFormat {
  text(value: number): string;
  /** The least top of an axis, so that a series of zeros has an axis that can be read. */
  leastTop: number;
}

const UNITS = {
  share: { text: (value) => percent.format(value), leastTop: 0.01 },
  count: { text: (value) => compact.format(value), leastTop: 4 },
  perSecond: { text: (value) => `${compact.format(value)}/s`, leastTop: 1 },
  bytes: { text: bytesText, leastTop: 1_000 },
  bytesPerSecond: { text: (value) => `${bytesText(value)}/s`, leastTop: 1_000 },
  hours: { text: (value) => `${number.format(value)} h`, leastTop: 0.01 },
  seconds: { text: (value) => `${number.format(value)} s`, leastTop: 1 },
  milliseconds: {
    text: (value) =>
      value < MS_PER_SECOND ? `${number.format(value)} ms` : `${number.format(value / MS_PER_SECOND)} s`,
    leastTop: 10,
  },
} as const satisfies Record<string, UnitFormat>;

export type Unit = keyof typeof UNITS;

/** A value with its unit, such as `3.4 %`; three digits at most. */
export function valueText(unit: Unit, value: number): string {
  return UNITS[unit].text(value);
}

/** The top of an axis whose highest value is `highest`. */
export function axisTop(unit: Unit, highest: number): number {
  return Math.max(UNITS[unit].leastTop, highest * 1.1);
}

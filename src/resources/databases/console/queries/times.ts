// Lengths of time from microseconds to days.

const UNITS: [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** A length of time with two or three digits, such as `5.2 s`. */
export function timeText(ms: number): string {
  const [unit, size] = UNITS.find((each) => ms >= each[1]) ?? ["ms", 1];
  const amount = ms / size;
  return `${amount.toFixed(amount < 10 ? (amount < 1 ? 2 : 1) : 0)} ${unit}`;
}

// How statements and their times look in a terminal.
import { table } from "../table.ts";

const COLUMNS = 80;
/** A narrower cell says nothing. */
const MIN_TEXT = 20;

const UNITS: [unit: string, ms: number][] = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** A length of time with about three digits, such as `5.2 s`. */
export function timeText(ms: number): string {
  const [unit, size] = UNITS.find((each) => ms >= each[1]) ?? ["ms", 1];
  const amount = ms / size;
  return `${amount.toFixed(amount < 100 ? 1 : 0)} ${unit}`;
}

/** A table whose last column has the rest of the width, with each text on one line. */
export function fittedTable(rows: string[][]): string {
  const widths = (rows[0] ?? [])
    .slice(0, -1)
    .map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const rest = COLUMNS - widths.reduce((sum, width) => sum + width + 2, 0);
  return table(rows.map((row) => [...row.slice(0, -1), cut(row.at(-1) ?? "", Math.max(MIN_TEXT, rest))]));
}

function cut(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

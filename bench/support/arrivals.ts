// Prints when each of many that were wanted at once was there.
import { milliseconds, printRow, times } from "./report.ts";
import { median } from "./statistics.ts";

/** When each of them was there, in milliseconds since the first was asked for. */
export type Arrivals = number[];

/**
 * Medians over the rounds of the first, the middle and the last arrival, and how many times the baseline's the last is.
 */
export function printArrivals(label: string, rounds: Arrivals[], baseline?: Arrivals[]): void {
  printRow(
    label,
    milliseconds(median(rounds.map((arrivals) => Math.min(...arrivals)))),
    milliseconds(median(rounds.map((arrivals) => median(arrivals)))),
    milliseconds(lastOf(rounds)),
    baseline === undefined ? "" : times(lastOf(rounds) / lastOf(baseline)),
  );
}

function lastOf(rounds: Arrivals[]): number {
  return median(rounds.map((arrivals) => Math.max(...arrivals)));
}

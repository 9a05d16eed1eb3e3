// Prints when the members of a herd arrived.
import { milliseconds, printRow, times } from "./report.ts";
import { median } from "./statistics.ts";

/** The time of each arrival, in milliseconds since the first request. */
export type Arrivals = number[];

/**
 * Medians over the rounds of the first, the middle and the last arrival, and the ratio of the last to the baseline's.
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

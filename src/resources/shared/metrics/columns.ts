// The columns of the tables of metrics, and how each is combined over time.
import { counterNames, gaugeNames, type Reading } from "../../../contracts/readings.ts";

/** A figure of a reading. */
export type Figure = Exclude<keyof Reading, "id">;

/** Figures that add up over time. */
const SUMS = ["awakeMs", "computeMs", "cpuMs", "wakes", ...counterNames] as const satisfies Figure[];
/** Figures of which the mean counts. */
const MEANS = ["memoryBytes", "replicaLagSeconds", ...gaugeNames] as const satisfies Figure[];
/** Figures of which the last counts. */
const LASTS = ["storageBytes"] as const satisfies Figure[];

/** All figures, in the order of the columns of a statement. */
export const FIGURES: readonly Figure[] = [...SUMS, ...MEANS, ...LASTS];

/** The column of a figure: `awakeMs` is `awake_ms`. All names are constants, safe in SQL. */
export function columnOf(figure: Figure): string {
  return figure.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const COLUMNS = FIGURES.map(columnOf);

/** The expressions that combine rows of a group, in the order of `COLUMNS`. */
export const COMBINED: readonly string[] = [
  ...SUMS.map((figure) => `sum(${columnOf(figure)})`),
  ...MEANS.map((figure) => {
    const column = columnOf(figure);
    return `sum(${column} * minutes) / nullif(sum(minutes) filter (where ${column} is not null), 0)`;
  }),
  ...LASTS.map((figure) => {
    const column = columnOf(figure);
    return `(array_agg(${column} order by at desc) filter (where ${column} is not null))[1]`;
  }),
];

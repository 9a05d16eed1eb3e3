// Prints results: the machine, rows of figures beside their baseline, and how they compare with the targets.
import { cpus, freemem, loadavg, release, totalmem } from "node:os";
import { median, percentile } from "./statistics.ts";

const GIBIBYTE = 1024 ** 3;
const LABEL_WIDTH = 58;

/** The title of a measurement and the machine that it runs on, with its load before the start. */
export function printHeading(title: string): void {
  const processors = cpus();
  const facts = [
    `${processors.length} x ${processors[0]?.model.trim() ?? "unknown processor"}`,
    `${(totalmem() / GIBIBYTE).toFixed(0)} GiB (${(freemem() / GIBIBYTE).toFixed(0)} free)`,
    `Linux ${release()}`,
    `Bun ${Bun.version}`,
    `load ${loadavg()
      .map((load) => load.toFixed(2))
      .join(" ")}`,
  ];
  console.log(`${title}\nmachine: ${facts.join(", ")}\n`);
}

/** Names the columns of the rows that follow. */
export function printColumns(...columns: string[]): void {
  console.log(`${"".padEnd(LABEL_WIDTH)}${columns.map((column) => column.padStart(11)).join("")}`);
}

/** A row of finished cells. */
export function printRow(label: string, ...cells: string[]): void {
  console.log(`${label.padEnd(LABEL_WIDTH)}${cells.map((cell) => cell.padStart(11)).join("")}`);
}

/** A row with the median and p99 of some times, and their ratio to the baseline's. */
export function printTimes(label: string, timesMs: readonly number[], baselineMs?: readonly number[]): void {
  const figures = [median(timesMs), percentile(timesMs, 99)];
  const ratios =
    baselineMs === undefined
      ? ["", ""]
      : [
          times(median(timesMs) / median(baselineMs)),
          times(percentile(timesMs, 99) / percentile(baselineMs, 99)),
        ];
  printRow(label, ...figures.map(milliseconds), ...ratios);
}

/** A target: the result beside the limit. */
export function printTarget(
  what: string,
  reached: number,
  limit: number,
  format: (value: number) => string,
): void {
  const verdict = reached <= limit ? "ok" : "missed";
  console.log(`target: ${what}: at most ${format(limit)}, is ${format(reached)}: ${verdict}`);
}

/** As `printTarget`, for figures that should be large. */
export function printFloor(
  what: string,
  reached: number,
  limit: number,
  format: (value: number) => string,
): void {
  const verdict = reached >= limit ? "ok" : "missed";
  console.log(`target: ${what}: at least ${format(limit)}, is ${format(reached)}: ${verdict}`);
}

/** For the columns: `4.21 us`. */
export function microseconds(us: number): string {
  return `${us.toFixed(2)} us`;
}

/** For the columns: `7.25 ms`. */
export function milliseconds(ms: number): string {
  return `${ms.toFixed(2)} ms`;
}

/** For the columns: `35210/s`. */
export function perSecond(rate: number): string {
  return `${rate.toFixed(0)}/s`;
}

/** For the columns: `3.1x`. */
export function times(ratio: number): string {
  return `${ratio.toFixed(2)}x`;
}

/** For the columns: `1.93 kB`. @param kB as /proc counts them. */
export function kilobytes(kB: number): string {
  return `${kB.toFixed(2)} kB`;
}

/** For the columns: `21.4 MB`. @param kB as /proc counts them. */
export function megabytes(kB: number): string {
  return `${(kB / 1024).toFixed(1)} MB`;
}

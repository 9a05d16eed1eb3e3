// Measures the processor time of a delivery by the realtime server, beside a C server that does nothing else.
import { load, type LoadResult } from "./support/realtime-load.ts";
import { runRealtimeBench, type RealtimeBench } from "./support/realtime-tools.ts";
import { startBaseline, startRealtime, type RealtimeServer } from "./support/realtime.ts";
import { microseconds, milliseconds, printColumns, printRow, printTarget, times } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = 3;
/**
 * With more than one outstanding publish, several events are pending for a socket, and both sides may write them at
 * once.
 */
const CASES = [
  { subscribers: 1_000, outstanding: 1, publishes: 400, targetRatio: 1.15 },
  { subscribers: 10_000, outstanding: 1, publishes: 60, targetRatio: 1.4 },
  { subscribers: 1_000, outstanding: 8, publishes: 2_000, targetRatio: 1.3 },
  { subscribers: 10_000, outstanding: 8, publishes: 200, targetRatio: 1.3 },
];

type Case = (typeof CASES)[number];

await runRealtimeBench(
  `realtime-fanout: server CPU per delivery, medians of ${ROUNDS} rounds, HTTP publishes`,
  async (bench) => {
    const pilvi = await startRealtime(bench);
    const each = await startBaseline(bench);
    const merging = await startBaseline(bench, { coalesce: true });
    const ratios: [of: Case, ratio: number][] = [];
    printColumns("CPU", "x", "p50", "p99");
    for (const of of CASES) {
      ratios.push([of, await measure(bench, of.outstanding > 1 ? merging : each, pilvi, of)]);
    }
    console.log("");
    for (const [of, ratio] of ratios) printTarget(nameOf(of), ratio, of.targetRatio, times);
  },
);

/** @returns the ratio of a delivery's cost to the baseline's. */
async function measure(
  bench: RealtimeBench,
  baseline: RealtimeServer,
  pilvi: RealtimeServer,
  of: Case,
): Promise<number> {
  const { subscribers, outstanding, publishes } = of;
  const options = { subscribers, publishers: outstanding, publishes, warmUp: publishes / 4 };
  const [bare, ours]: [LoadResult[], LoadResult[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await load(bench, baseline, "fanout", options));
    ours.push(await load(bench, pilvi, "fanout", options));
  }
  const ratio = costOf(ours) / costOf(bare);
  printResults(`${nameOf(of)}: ${baseline.name}`, bare, "");
  printResults(`${nameOf(of)}: ${pilvi.name}`, ours, times(ratio));
  return ratio;
}

/** Microseconds of the server's processor time for each delivery. */
function costOf(results: LoadResult[]): number {
  return median(results.map(({ cpuSeconds, deliveries }) => (cpuSeconds * 1e6) / deliveries));
}

function printResults(label: string, results: LoadResult[], ratio: string): void {
  const p50 = median(results.map(({ deliveryMs }) => deliveryMs.p50));
  const p99 = median(results.map(({ deliveryMs }) => deliveryMs.p99));
  printRow(label, microseconds(costOf(results)), ratio, milliseconds(p50), milliseconds(p99));
}

function nameOf({ subscribers, outstanding }: Case): string {
  return `${subscribers.toLocaleString("en")} subscribers, ${outstanding} outstanding`;
}

// Measures how many signed HTTP publishes a second the realtime server takes, and how long a publish takes to its
// subscribers, beside a C server that checks no signature.
import { load, type LoadOptions, type LoadResult } from "./support/realtime-load.ts";
import { runRealtimeBench, type RealtimeBench } from "./support/realtime-tools.ts";
import { startBaseline, startRealtime, type RealtimeServer } from "./support/realtime.ts";
import {
  microseconds,
  milliseconds,
  printColumns,
  printFloor,
  printRow,
  printTarget,
  times,
} from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = 3;
const FLOOD: LoadOptions = { subscribers: 1, publishers: 16, seconds: 3, warmUp: 10_000 };
/** Far below the servers' limits, so that no publish waits for another. */
const PACED: LoadOptions = { subscribers: 1_000, publishers: 8, rate: 20, publishes: 200, warmUp: 100 };
const TARGETS = { rateRatio: 0.5, p99Ratio: 1.3 };

type Servers = readonly [bare: RealtimeServer, ours: RealtimeServer];
type Results = [bare: LoadResult[], ours: LoadResult[]];

await runRealtimeBench(
  `realtime-publish: signed HTTP publishes, medians of ${ROUNDS} rounds`,
  async (bench) => {
    const servers = [await startBaseline(bench), await startRealtime(bench)] as const;
    const rateRatio = reportFlood(servers, await rounds(bench, servers, "publish", FLOOD));
    console.log("");
    const p99Ratio = reportPaced(servers, await rounds(bench, servers, "fanout", PACED));
    console.log("");
    printFloor("signed publishes a second", rateRatio, TARGETS.rateRatio, times);
    printTarget("p99 from publish to delivery", p99Ratio, TARGETS.p99Ratio, times);
  },
);

async function rounds(
  bench: RealtimeBench,
  servers: Servers,
  mode: "publish" | "fanout",
  options: LoadOptions,
): Promise<Results> {
  const results: Results = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of [0, 1] as const) results[side].push(await load(bench, servers[side], mode, options));
  }
  return results;
}

/** @returns the ratio of the publishes a second to the baseline's. */
function reportFlood(servers: Servers, results: Results): number {
  const [bare, ours] = [rateOf(results[0]), rateOf(results[1])];
  printColumns("a second", "x", "CPU");
  for (const side of [0, 1] as const) {
    const cost = median(results[side].map(({ cpuSeconds, count }) => (cpuSeconds * 1e6) / count));
    printRow(
      `${FLOOD.publishers} connections, 1 subscriber: ${servers[side].name}`,
      rateOf(results[side]).toFixed(0),
      side === 0 ? "" : times(ours / bare),
      microseconds(cost),
    );
  }
  return ours / bare;
}

function rateOf(results: LoadResult[]): number {
  return median(results.map(({ count, seconds }) => count / seconds));
}

/** @returns the ratio of the p99 to the baseline's. */
function reportPaced(servers: Servers, results: Results): number {
  const [bare, ours] = [percentilesOf(results[0]), percentilesOf(results[1])];
  printColumns("p50", "p99", "x p50", "x p99");
  const label = `${PACED.subscribers} subscribers, ${PACED.rate} publishes a second`;
  printRow(`${label}: ${servers[0].name}`, milliseconds(bare.p50), milliseconds(bare.p99));
  printRow(
    `${label}: ${servers[1].name}`,
    milliseconds(ours.p50),
    milliseconds(ours.p99),
    times(ours.p50 / bare.p50),
    times(ours.p99 / bare.p99),
  );
  return ours.p99 / bare.p99;
}

/** From the publish to each delivery, in milliseconds. */
function percentilesOf(results: LoadResult[]): { p50: number; p99: number } {
  return {
    p50: median(results.map(({ deliveryMs }) => deliveryMs.p50)),
    p99: median(results.map(({ deliveryMs }) => deliveryMs.p99)),
  };
}

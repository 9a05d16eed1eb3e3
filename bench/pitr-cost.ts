// Measures what point-in-time recovery takes of the throughput of a Postgres: the standard transactions of pgbench on a
// cluster whose log is shipped, beside the same on a cluster without.
import { createSleepyCluster, serverlessConfig, socketOf } from "./support/sleepers.ts";
import { POSTGRES } from "../tests/support/pilvi/databases.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { fillTables, transactionRate, type Target } from "./support/load.ts";
import { countOption } from "./support/options.ts";
import { findPeer } from "./support/peers.ts";
import { perSecond, printColumns, printFloor, printRow, times } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(10);
/** Rounds at the start that warm both sides up and do not count. */
const WARM_UP = 1;
/** Enough compute units that the kernel never holds the engine back. */
const COMPUTE_UNITS = 2;
const LOAD = { clients: 4, threads: 1 };
const LEAST_RATIO = 0.97;

/** A cluster, and its transactions a second in each round. */
interface Side {
  label: string;
  target: Target;
  rates: number[];
}

await runBench(
  `pitr-cost: pgbench with point-in-time recovery and without, ${LOAD.clients} clients, ${ROUNDS} rounds`,
  async (bench) => {
    const off = await sideOf(bench, "off (baseline)", 0);
    const on = await sideOf(bench, "on", 1);
    const pgbench = await findPeer("pgbench");
    for (const { target } of [off, on]) await fillTables(pgbench, target);
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      // The side that is measured first changes, so that a machine that gets busier slows both.
      for (const side of round % 2 === 0 ? [off, on] : [on, off]) {
        const rate = await transactionRate(pgbench, side.target, LOAD);
        if (round >= 0) side.rates.push(rate);
      }
    }
    printColumns("median", "x median", "x pairs");
    printRow(off.label, perSecond(median(off.rates)));
    const ofPairs = median(on.rates.map((rate, round) => rate / (off.rates[round] ?? 0)));
    const ratio = median(on.rates) / median(off.rates);
    printRow(on.label, perSecond(median(on.rates)), times(ratio), times(ofPairs));
    printFloor("transactions a second with it: median of the pairs", ofPairs, LEAST_RATIO, times);
  },
);

async function sideOf({ pilvi }: Bench, label: string, retentionDays: number): Promise<Side> {
  const config = { ...serverlessConfig(COMPUTE_UNITS), retention_days: retentionDays };
  const sleepy = await createSleepyCluster(pilvi, { type: POSTGRES, config });
  const target = { place: { unix: socketOf(pilvi, sleepy) }, login: sleepy.login, isTls: false };
  return { label: `point-in-time recovery ${label}`, target, rates: [] };
}

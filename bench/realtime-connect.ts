// Measures the cost of a connection to the realtime server: processor time to connect and subscribe, and memory while
// it is idle, beside a minimal C server.
import { holdIdle, load, type LoadResult } from "./support/realtime-load.ts";
import { runRealtimeBench, type RealtimeBench } from "./support/realtime-tools.ts";
import { startBaseline, startRealtime, untilIdle, type RealtimeServer } from "./support/realtime.ts";
import { countOption } from "./support/options.ts";
import { growth, memoryOf, type Memory } from "./support/memory.ts";
import { kilobytes, microseconds, printColumns, printRow, printTarget, times } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(5);
const CONNECTIONS = 8_000;
/** Connections before the measured ones: so few that they leave no memory behind. */
const WARM_UP_CONNECTIONS = 100;
/** By then the garbage of connecting is collected. */
const SETTLE_MS = 8_000;
const TARGETS = { cpuRatio: 1.3, residentKilobytes: 4 };

type Start = (bench: RealtimeBench) => Promise<RealtimeServer>;

await runRealtimeBench(
  `realtime-connect: ${CONNECTIONS} connections that subscribe, the first of new processes, medians of ${ROUNDS} rounds`,
  async (bench) => {
    const ratio = await measureTime(bench);
    console.log("");
    const resident = await measureMemory(bench);
    console.log("");
    printTarget("CPU per connect and subscribe", ratio, TARGETS.cpuRatio, times);
    printTarget("resident per idle subscriber", resident, TARGETS.residentKilobytes, kilobytes);
  },
);

/**
 * @returns the ratio of processor time for a connection to the baseline's, over the first connections of a new process.
 */
async function measureTime(bench: RealtimeBench): Promise<number> {
  const bare: LoadResult[] = [];
  const ours: LoadResult[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first, second] = [await firstLoad(bench, startBaseline), await firstLoad(bench, startRealtime)];
    bare.push(first);
    ours.push(second);
    ratios.push(costOf([second]) / costOf([first]));
  }
  const ratio = median(ratios);
  printColumns("CPU", "x");
  printRow("first connections: C (baseline)", microseconds(costOf(bare)), "");
  printRow("first connections: Pilvi", microseconds(costOf(ours)), times(ratio));
  return ratio;
}

/** Connects to a server that has just become ready, and stops it. */
async function firstLoad(bench: RealtimeBench, start: Start): Promise<LoadResult> {
  const server = await start(bench);
  const result = await load(bench, server, "connect", { subscribers: CONNECTIONS });
  await server.stop();
  return result;
}

/** Microseconds of the server's processor time for each connection. */
function costOf(results: LoadResult[]): number {
  return median(results.map(({ cpuSeconds, count }) => (cpuSeconds * 1e6) / count));
}

/** @returns resident kilobytes of Pilvi's server for each connection. */
async function measureMemory(bench: RealtimeBench): Promise<number> {
  const [bare, ours]: [Memory[], Memory[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await memoryOfIdle(bench, startBaseline));
    ours.push(await memoryOfIdle(bench, startRealtime));
  }
  printColumns("RSS", "PSS", "private");
  printMemory("idle subscriber: C (baseline)", bare);
  printMemory("idle subscriber: Pilvi", ours);
  return median(ours.map(({ rss }) => rss));
}

/** The growth of a new server for each of its connections. */
async function memoryOfIdle(bench: RealtimeBench, start: Start): Promise<Memory> {
  const server = await start(bench);
  await load(bench, server, "connect", { subscribers: WARM_UP_CONNECTIONS });
  await untilIdle(server);
  await Bun.sleep(SETTLE_MS);
  const before = memoryOf([server.pid]);
  const held = await holdIdle(bench, server, { subscribers: CONNECTIONS });
  await Bun.sleep(SETTLE_MS);
  const after = memoryOf([server.pid]);
  await held.release();
  await server.stop();
  return growth(before, after, CONNECTIONS);
}

function printMemory(label: string, rounds: Memory[]): void {
  const cell = (of: keyof Memory) => kilobytes(median(rounds.map((memory) => memory[of])));
  printRow(label, cell("rss"), cell("pss"), cell("own"));
}

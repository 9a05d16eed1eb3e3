// Measures what a connection costs the realtime server: processor time to connect and subscribe, and memory while it is
// idle, beside a C server that keeps as little as it can.
import { holdIdle, load, type LoadResult } from "./support/realtime-load.ts";
import { runRealtimeBench, type RealtimeBench } from "./support/realtime-tools.ts";
import { startBaseline, startRealtime, untilQuiet, type RealtimeServer } from "./support/realtime.ts";
import { countOption } from "./support/options.ts";
import { growth, memoryOf, type Memory } from "./support/memory.ts";
import { kilobytes, microseconds, printColumns, printRow, printTarget, times } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(5);
const CONNECTIONS = 8_000;
/** Connections before those whose memory counts: so few that they leave no memory behind. */
const WARM_UP_CONNECTIONS = 100;
/** Garbage that connecting made is collected by then. */
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

/** @returns how many times the baseline's processor time a connection takes, of the first that a new process has. */
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

/** Connects to a server that has just said that it is ready, and stops it. */
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

/** What a new server grows by for each of its connections. */
async function memoryOfIdle(bench: RealtimeBench, start: Start): Promise<Memory> {
  const server = await start(bench);
  await load(bench, server, "connect", { subscribers: WARM_UP_CONNECTIONS });
  await untilQuiet(server);
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

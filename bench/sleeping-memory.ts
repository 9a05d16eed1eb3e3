// Measures the memory of sleeping instances in Pilvi's own processes, while it runs on and after a restart, beside the
// memory of an awake instance. A sleeping instance has no process.
import { forEachLimited } from "../src/lib/for-each-limited.ts";
import { processesOf } from "../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { runBench } from "./support/bench.ts";
import { growth, memoryOf, type Memory } from "./support/memory.ts";
import { countOption } from "./support/options.ts";
import { restingMemory } from "./support/pilvi-memory.ts";
import { kilobytes, megabytes, printColumns, printRow, printTarget } from "./support/report.ts";
import { ask } from "./support/clients.ts";
import { POSTGRES_SLEEPER, suspend, VALKEY_SLEEPER, type Sleeper, type Sleepy } from "./support/sleepers.ts";

const INSTANCES = countOption(200);
/** Taken in turn: the memory of an instance in Pilvi hardly depends on its engine, and caches are made faster. */
const SLEEPERS = [POSTGRES_SLEEPER, VALKEY_SLEEPER];
/** Instances that are made, slept and woken before the measurement, so that shared code and buffers exist already. */
const WARM_UP = 10;
/** The number of creates at a time. */
const AT_ONCE = 4;
const TARGET_KB = 100;

await runBench(
  `sleeping-memory: ${INSTANCES} sleeping instances, Postgres and Valkey in turn, PSS of up, host, control and gateway`,
  async ({ pilvi }) => {
    const warmUp = await createAll(pilvi, WARM_UP);
    for (const sleepy of warmUp.flat()) (await ask(sleepy)).close();
    const awake = warmUp.map((instances) => memoryPerEngine(pilvi, instances));
    for (const { path } of warmUp.flat()) await remove(pilvi, path);
    const before = await restingMemory(pilvi);
    const beforeRestarted = await restart(pilvi);
    const sleeping = (await createAll(pilvi, INSTANCES)).flat();
    const after = await restingMemory(pilvi);
    const afterRestarted = await restart(pilvi);
    report(awake, growth(before, after, INSTANCES), growth(beforeRestarted, afterRestarted, INSTANCES));
    const engines = sleeping.flatMap(({ id }) => processesOf(pilvi, id));
    printTarget("processes of engines", engines.length, 0, String);
  },
);

/** Creates sleeping instances. @returns the instances in the order of `SLEEPERS`. */
async function createAll(pilvi: TestPilvi, count: number): Promise<Sleepy[][]> {
  const created: Sleepy[][] = SLEEPERS.map(() => []);
  const orders = Array.from({ length: count }, (_, index) => index % SLEEPERS.length);
  await forEachLimited(orders, AT_ONCE, async (kind) => {
    const sleeper: Sleeper = SLEEPERS[kind] ?? VALKEY_SLEEPER;
    const sleepy = await sleeper.create(pilvi);
    await suspend(pilvi, sleepy);
    created[kind]?.push(sleepy);
  });
  return created;
}

async function remove(pilvi: TestPilvi, path: string): Promise<void> {
  await pilvi.api("DELETE", path);
  const { status } = await pilvi.api("GET", `${path}?wait=deleted`);
  if (status !== 404) throw new Error(`${path} is not gone: ${status}`);
}

/** The memory of a restarted Pilvi; the instances sleep on. */
async function restart(pilvi: TestPilvi): Promise<Memory> {
  await pilvi.stop();
  await pilvi.start();
  return await restingMemory(pilvi);
}

function memoryPerEngine(pilvi: TestPilvi, instances: readonly Sleepy[]): Memory {
  const none: Memory = { rss: 0, pss: 0, own: 0 };
  return growth(none, memoryOf(instances.flatMap(({ id }) => processesOf(pilvi, id))), instances.length);
}

function report(awake: readonly Memory[], grown: Memory, grownRestarted: Memory): void {
  printColumns("PSS", "private");
  for (const [index, { label }] of SLEEPERS.entries()) {
    const memory = awake[index];
    if (memory === undefined) continue;
    printRow(`engine of one that is awake: ${label} (baseline)`, ...[memory.pss, memory.own].map(megabytes));
  }
  printMemory("Pilvi's processes for each that sleeps", grown);
  printMemory("the same after a restart of Pilvi", grownRestarted);
  console.log("");
  printTarget("PSS for each that sleeps", grown.pss, TARGET_KB, kilobytes);
  printTarget("PSS for each that sleeps, after a restart", grownRestarted.pss, TARGET_KB, kilobytes);
}

function printMemory(label: string, { pss, own }: Memory): void {
  printRow(label, kilobytes(pss), kilobytes(own));
}

// Measures how long 20 Postgres and 20 MySQL clusters take that are created all at once, and the memory of each when it
// is idle, beside as many bare engines started at once on prepared copies of such clusters' files.
import type { DatabaseClusterResource } from "../src/resources/databases/schema.ts";
import { createCluster, deleteCluster, processesOf, untilCluster } from "../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { printArrivals, type Arrivals } from "./support/arrivals.ts";
import { BareInstance, takeModels } from "./support/bare-instance.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { firstAnswer } from "./support/clients.ts";
import { addressOf, MEASURED, orderCluster, type Measured } from "./support/databases.ts";
import { memoryOf } from "./support/memory.ts";
import { megabytes, printColumns, printRow, printTarget } from "./support/report.ts";
import { untilSlotsAreFull } from "./support/slots.ts";

const CLUSTERS_OF_EACH = 20;
const CLUSTERS = MEASURED.length * CLUSTERS_OF_EACH;
/** Herds of clients that try every millisecond would keep a whole core busy. */
const RETRY_MS = 20;
/** By then the work that a start leaves to the engine and the disk is done. */
const SETTLE_MS = 10_000;
/** The default of the setting; most of the clusters are built while their customers wait. */
const WARM_SLOTS = 2;

await runBench(
  `many-databases: ${CLUSTERS_OF_EACH} of each engine at once, ${WARM_SLOTS} warm slots of each, PSS after ${SETTLE_MS / 1_000} s`,
  async (bench) => {
    const bare = await startBare(bench);
    await Bun.sleep(SETTLE_MS);
    // Each side is weighed while the other is not running, so that neither shares the pages of programs with the other.
    const bareMemory = memoryPerEngine((index) => (bare.engines[index] ?? []).map((engine) => engine.pids));
    await Promise.all(bare.engines.flat().map((engine) => engine.kill()));
    await untilSlotsAreFull(bench.pilvi, WARM_SLOTS);
    const created = await createAll(bench.pilvi);
    await untilSlotsAreFull(bench.pilvi, WARM_SLOTS);
    await Bun.sleep(SETTLE_MS);
    const memory = memoryPerEngine((index) =>
      (created.ids[index] ?? []).map((id) => processesOf(bench.pilvi, id)),
    );
    printColumns("first", "median", "last", "x last");
    for (const [index, { label }] of MEASURED.entries()) {
      const baseline = [bare.arrivals[index] ?? []];
      printArrivals(`${label}: bare, spawn to first answer (baseline)`, baseline);
      printArrivals(`${label}: create sent to available`, [created.arrivals[index] ?? []], baseline);
    }
    console.log("");
    printColumns("bare", "cluster");
    for (const [index, { label }] of MEASURED.entries()) {
      const cells = [bareMemory, memory].map((each) => megabytes(each[index] ?? Number.NaN));
      printRow(`${label}: PSS of an idle one, mean`, ...cells);
    }
    console.log("");
    printTarget(`clusters of ${CLUSTERS} that did not become available`, created.failures, 0, String);
  },
  { PILVI_WARM_SLOTS: String(WARM_SLOTS) },
);

/** Starts all bare engines at once. @returns the engines and their arrivals, by engine in the order of `MEASURED`. */
async function startBare({
  pilvi,
  atEnd,
}: Bench): Promise<{ engines: BareInstance[][]; arrivals: Arrivals[] }> {
  const examples = await Promise.all(MEASURED.map(({ attributes }) => createCluster(pilvi, attributes)));
  const models = await takeModels(pilvi, examples);
  await Promise.all(examples.map(({ id }) => deleteCluster(pilvi, id)));
  const engines = examples.map(({ id }) => {
    const model = models.get(id);
    if (model === undefined) throw new Error(`there is no model of ${id}`);
    return Array.from({ length: CLUSTERS_OF_EACH }, () => new BareInstance(pilvi, model));
  });
  for (const engine of engines.flat()) engine.prepare();
  atEnd(async () => void (await Promise.all(engines.flat().map((engine) => engine.kill()))));
  await untilSlotsAreFull(pilvi, WARM_SLOTS);
  const startedAt = performance.now();
  const arrivals = await Promise.all(
    examples.map((example, index) =>
      Promise.all(
        (engines[index] ?? []).map(async (engine) => {
          engine.spawn();
          const address = { ...addressOf(example), place: { unix: engine.socket } };
          return (await firstAnswer(address, RETRY_MS)) - startedAt;
        }),
      ),
    ),
  );
  return { engines, arrivals };
}

/** Creates all clusters at once; a cluster that does not become available is reported and counted. */
async function createAll(
  pilvi: TestPilvi,
): Promise<{ ids: string[][]; arrivals: Arrivals[]; failures: number }> {
  const startedAt = performance.now();
  const ids: string[][] = MEASURED.map(() => []);
  const arrivals: Arrivals[] = MEASURED.map(() => []);
  let failures = 0;
  const create = async (measured: Measured, index: number) => {
    try {
      const { id } = await untilAvailable(pilvi, await orderCluster(pilvi, measured));
      arrivals[index]?.push(performance.now() - startedAt);
      ids[index]?.push(id);
    } catch (error) {
      console.error(error);
      failures += 1;
    }
  };
  await Promise.all(
    MEASURED.flatMap((measured, index) =>
      Array.from({ length: CLUSTERS_OF_EACH }, () => create(measured, index)),
    ),
  );
  return { ids, arrivals, failures };
}

/**
 * Pilvi answers a held GET after a while even without the status; building so many clusters at once takes longer than a
 * hold.
 */
async function untilAvailable(
  pilvi: TestPilvi,
  { id }: DatabaseClusterResource,
): Promise<DatabaseClusterResource> {
  const giveUpAt = performance.now() + 5 * 60_000;
  for (;;) {
    try {
      return await untilCluster(pilvi, id, "available");
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
    }
  }
}

/** Kilobytes of PSS that each engine takes with all its processes, by the order of `MEASURED`. */
function memoryPerEngine(pidsOf: (index: number) => number[][]): number[] {
  return MEASURED.map((_, index) => {
    const clusters = pidsOf(index);
    return memoryOf(clusters.flat()).pss / clusters.length;
  });
}

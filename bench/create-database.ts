// Measures how long a new database cluster takes from the create to the first query with the returned credentials,
// beside a bare start of the same engine on a prepared copy of such a cluster's files.
import type { DatabaseClusterResource } from "../src/resources/databases/schema.ts";
import { createCluster, deleteCluster, untilCluster } from "../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { BareInstance, takeModels } from "./support/bare-instance.ts";
import { firstAnswer, type Address } from "./support/clients.ts";
import { runBench, startMeasured, type Bench } from "./support/bench.ts";
import { dataMs, DatabaseStages, fileTimesOf } from "./support/database-stages.ts";
import { addressOf, MEASURED, orderCluster, type Measured } from "./support/databases.ts";
import { milliseconds, printColumns, printRow, printTarget, printTimes, times } from "./support/report.ts";
import { untilSlotsAreFull } from "./support/slots.ts";
import { mean, median } from "./support/statistics.ts";

const ROUNDS = 30;
/** Rounds at the start that warm both sides up and do not count. */
const WARM_UP = 2;
/**
 * One round in this many also has a create whose client waits for `available` and whose stages are measured; their
 * means need fewer samples.
 */
const ROUNDS_PER_WAIT = 3;
const WARM_SLOTS = 2;
const TARGET_RATIOS = { withSlots: 2, without: 2.5 };

await runBench(
  `create-database: create sent to first query, one at a time, ${ROUNDS} rounds`,
  async (bench) => {
    await measureAll(bench, WARM_SLOTS, TARGET_RATIOS.withSlots);
    await bench.pilvi.stop();
    const pilvi = await startMeasured({ PILVI_WARM_SLOTS: "0" });
    bench.atEnd(() => pilvi.close());
    await measureAll({ ...bench, pilvi }, 0, TARGET_RATIOS.without);
  },
  { PILVI_WARM_SLOTS: String(WARM_SLOTS) },
);

async function measureAll(bench: Bench, slots: number, targetRatio: number): Promise<void> {
  const { pilvi } = bench;
  const examples = await Promise.all(MEASURED.map(({ attributes }) => createCluster(pilvi, attributes)));
  const models = await takeModels(pilvi, examples);
  await Promise.all(examples.map(({ id }) => deleteCluster(pilvi, id)));
  for (const [index, measured] of MEASURED.entries()) {
    const example = examples[index];
    const model = models.get(example?.id ?? "");
    if (example === undefined || model === undefined)
      throw new Error(`there is no model of ${measured.label}`);
    const bare = new BareInstance(pilvi, model);
    bench.atEnd(() => bare.kill());
    const start = () => startBare(bare, { ...addressOf(example), place: { unix: bare.socket } });
    const samples = await measure(bench, measured, start, slots);
    report(`${measured.label}, ${slots} warm slots`, samples, slots, targetRatio);
  }
}

/** Milliseconds, a sample for every round. */
interface Samples {
  bare: number[];
  /** By a client that tries again and again from the 201 on, whatever the status of the cluster. */
  reached: number[];
  /** The part of `reached` in which the first data was made. */
  reachedData: number[];
  /** By a client that connects when the status of the cluster is `available`. */
  waited: number[];
  waitedData: number[];
  stages: DatabaseStages;
}

/** @param start starts the bare engine and returns the same as `startBare`. */
async function measure(
  { pilvi }: Bench,
  measured: Measured,
  start: () => Promise<number>,
  slots: number,
): Promise<Samples> {
  const stages = new DatabaseStages(pilvi);
  const samples: Samples = { bare: [], reached: [], reachedData: [], waited: [], waitedData: [], stages };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const ofBare = await start();
    await untilSlotsAreFull(pilvi, slots);
    const reached = await createAndConnect(pilvi, measured);
    await untilSlotsAreFull(pilvi, slots);
    const isWaited = round % ROUNDS_PER_WAIT === 0;
    const waited = isWaited ? await createAndWait(pilvi, measured, stages) : undefined;
    await untilSlotsAreFull(pilvi, slots);
    if (round < 0) continue;
    samples.bare.push(ofBare);
    samples.reached.push(reached.ms);
    samples.reachedData.push(reached.dataMs);
    if (waited === undefined) continue;
    samples.waited.push(waited.ms);
    samples.waitedData.push(waited.dataMs);
  }
  return samples;
}

/** @returns milliseconds from the spawn to the first answer. */
async function startBare(bare: BareInstance, address: Address): Promise<number> {
  bare.prepare();
  const startedAt = performance.now();
  bare.spawn();
  const answeredAt = await firstAnswer(address);
  await bare.kill();
  return answeredAt - startedAt;
}

interface Created {
  /** Milliseconds from the create to the first answer. */
  ms: number;
  /** The part of them in which the host made the first data, in milliseconds. */
  dataMs: number;
}

/** Connects as soon as the port is known. */
async function createAndConnect(pilvi: TestPilvi, measured: Measured): Promise<Created> {
  const startedAt = performance.now();
  const ordered = await orderCluster(pilvi, measured);
  const answerAt = await firstAnswer(addressOf(ordered));
  const cluster = await untilCluster(pilvi, ordered.id, "available");
  return await finish(pilvi, cluster, answerAt - startedAt);
}

/** Connects when the status of the cluster is `available`. */
async function createAndWait(pilvi: TestPilvi, measured: Measured, stages: DatabaseStages): Promise<Created> {
  const startedAt = performance.now();
  const { id } = await orderCluster(pilvi, measured);
  const answeredAt = performance.now();
  const cluster = await untilCluster(pilvi, id, "available");
  const availableAt = performance.now();
  const firstAnswerAt = await firstAnswer(addressOf(cluster));
  const client = { startedAt, answeredAt, availableAt, firstAnswerAt };
  stages.note(id, client, fileTimesOf(pilvi, cluster));
  return await finish(pilvi, cluster, firstAnswerAt - startedAt);
}

async function finish(pilvi: TestPilvi, cluster: DatabaseClusterResource, ms: number): Promise<Created> {
  const created = { ms, dataMs: dataMs(fileTimesOf(pilvi, cluster)) };
  await deleteCluster(pilvi, cluster.id);
  return created;
}

/** Without slots the making of the first data is reported separately: the baseline begins with finished data. */
function report(title: string, samples: Samples, slots: number, targetRatio: number): void {
  const { bare, stages } = samples;
  const isBuilt = slots === 0;
  const counted = (all: number[], data: number[]) =>
    isBuilt ? all.map((ms, round) => ms - (data[round] ?? 0)) : all;
  const reached = counted(samples.reached, samples.reachedData);
  const suffix = isBuilt ? ", without the building" : "";
  console.log(`\n${title}`);
  printColumns("median", "p99", "x median", "x p99");
  printTimes("bare engine, spawn to first answer (baseline)", bare);
  printTimes(`create sent to first answer${suffix}`, reached, bare);
  printTimes(
    `... with GET ?wait=available between${suffix}`,
    counted(samples.waited, samples.waitedData),
    bare,
  );
  if (isBuilt) printTimes("building the first data, synced (not counted above)", samples.reachedData, bare);
  console.log(`where the time of the third row goes, means of ${samples.waited.length} rounds:`);
  for (const [label, lengths] of stages.read(samples.waited.length))
    printRow(`  ${label}`, milliseconds(mean(lengths)));
  printTarget(`create sent to first answer${suffix}`, median(reached) / median(bare), targetRatio, times);
}

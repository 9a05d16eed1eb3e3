// Measures how long a new cache takes from the create to the first PONG with the returned credentials, beside a bare
// start of the same engine with the same files.
import { BareEngine } from "./support/bare-engine.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { addressOf, orderCache } from "./support/caches.ts";
import { StageClock } from "./support/create-stages.ts";
import { firstPong } from "./support/first-pong.ts";
import { milliseconds, printColumns, printRow, printTarget, printTimes, times } from "./support/report.ts";
import { mean, median } from "./support/statistics.ts";

const ROUNDS = 120;
/** Rounds at the start that warm both sides up and do not count. */
const WARM_UP = 10;
const TARGET_RATIO = 4;

await runBench("create-cache: create sent to first PONG, one at a time", async ({ pilvi, atEnd }) => {
  const bare = await BareEngine.like(pilvi, await pilvi.createCache());
  atEnd(() => bare.kill());
  const stages = new StageClock(pilvi);
  const bareMs: number[] = [];
  const pongMs: number[] = [];
  const answerMs: number[] = [];
  const waitedMs: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const ofBare = await startBare(bare);
    const created = await createAndConnect(pilvi);
    const waited = await createAndWait(pilvi, stages);
    if (round < 0) continue;
    bareMs.push(ofBare);
    pongMs.push(created.pongMs);
    answerMs.push(created.answerMs);
    waitedMs.push(waited);
  }
  printColumns("median", "p99", "x median", "x p99");
  printTimes("bare valkey-server, spawn to PONG (baseline)", bareMs);
  printTimes("create sent to PONG", pongMs, bareMs);
  printTimes("create sent to PONG, with GET ?wait=available between", waitedMs, bareMs);
  printTimes("create sent to 201", answerMs, bareMs);
  console.log(`\nwhere the time of the third row goes, means of ${ROUNDS} rounds:`);
  for (const [label, samples] of stages.read(ROUNDS)) printRow(`  ${label}`, milliseconds(mean(samples)));
  console.log("");
  printTarget("create sent to PONG", median(pongMs) / median(bareMs), TARGET_RATIO, times);
});

/** @returns milliseconds from the spawn to the first PONG. */
async function startBare(bare: BareEngine): Promise<number> {
  bare.prepare();
  const startedAt = performance.now();
  bare.spawn();
  const pongAt = await firstPong(bare.address);
  await bare.kill();
  return pongAt - startedAt;
}

/** Connects as soon as the port is known, whatever the status of the cache. */
async function createAndConnect(pilvi: Bench["pilvi"]): Promise<{ answerMs: number; pongMs: number }> {
  const startedAt = performance.now();
  const cache = await orderCache(pilvi);
  const answeredAt = performance.now();
  const pongAt = await firstPong(addressOf(cache));
  await pilvi.untilStatus(cache.id, "available");
  await pilvi.deleteCache(cache.id);
  return { answerMs: answeredAt - startedAt, pongMs: pongAt - startedAt };
}

/** Connects when the status of the cache is `available`. */
async function createAndWait(pilvi: Bench["pilvi"], stages: StageClock): Promise<number> {
  const startedAt = performance.now();
  const cache = await orderCache(pilvi);
  const answeredAt = performance.now();
  await pilvi.untilStatus(cache.id, "available");
  const availableAt = performance.now();
  const pongAt = await firstPong(addressOf(cache));
  await pilvi.deleteCache(cache.id);
  stages.note(cache.id, { startedAt, answeredAt, availableAt, firstAnswerAt: pongAt });
  return pongAt - startedAt;
}

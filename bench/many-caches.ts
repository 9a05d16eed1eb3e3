// Measures how long 50 caches take that are created all at once, beside 50 bare engines with the same files that are
// started at once.
import type { CacheResource } from "../src/resources/caches/schema.ts";
import { printArrivals, type Arrivals } from "./support/arrivals.ts";
import { BareEngine } from "./support/bare-engine.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { addressOf, orderCache } from "./support/caches.ts";
import { firstPong } from "./support/first-pong.ts";
import { printColumns, printTarget } from "./support/report.ts";

const CACHES = 50;
const ROUNDS = 5;
/** Herds of clients that try every millisecond would keep a whole core busy. */
const RETRY_MS = 10;

await runBench(`many-caches: ${CACHES} at once, ${ROUNDS} rounds`, async ({ pilvi, atEnd }) => {
  const model = await pilvi.createCache();
  const bare = await Promise.all(Array.from({ length: CACHES }, () => BareEngine.like(pilvi, model)));
  atEnd(async () => void (await Promise.all(bare.map((engine) => engine.kill()))));
  let failures = 0;
  const rounds: Record<"bare" | "answered" | "reached" | "available", Arrivals[]> = {
    bare: [],
    answered: [],
    reached: [],
    available: [],
  };
  // The first round warms both sides up and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ofBare = await startAll(bare);
    const reached = await createAll(
      pilvi,
      async (cache) => void (await firstPong(addressOf(cache), RETRY_MS)),
    );
    const available = await createAll(
      pilvi,
      async ({ id }) => void (await pilvi.untilStatus(id, "available")),
    );
    failures += reached.failures + available.failures;
    if (round === 0) continue;
    rounds.bare.push(ofBare);
    rounds.answered.push(reached.answered);
    rounds.reached.push(reached.arrivals);
    rounds.available.push(available.arrivals);
  }
  printColumns("first", "median", "last", "x last");
  printArrivals("bare valkey-servers, spawn to PONG (baseline)", rounds.bare);
  printArrivals("creates sent to 201", rounds.answered, rounds.bare);
  printArrivals("creates sent to PONG", rounds.reached, rounds.bare);
  printArrivals("creates sent to available, shown by held GETs", rounds.available, rounds.bare);
  console.log("");
  printTarget(`caches of ${2 * CACHES * (ROUNDS + 1)} that did not become available`, failures, 0, String);
});

async function startAll(engines: BareEngine[]): Promise<Arrivals> {
  for (const engine of engines) engine.prepare();
  const startedAt = performance.now();
  const arrivals = await Promise.all(
    engines.map(async (engine) => {
      engine.spawn();
      return (await firstPong(engine.address, RETRY_MS)) - startedAt;
    }),
  );
  await Promise.all(engines.map((engine) => engine.kill()));
  return arrivals;
}

/** Creates all caches, waits for each to arrive and to become available, and deletes them in the end. */
async function createAll(
  pilvi: Bench["pilvi"],
  arrive: (cache: CacheResource) => Promise<void>,
): Promise<{ answered: Arrivals; arrivals: Arrivals; failures: number }> {
  const startedAt = performance.now();
  const answered: Arrivals = [];
  const arrivals: Arrivals = [];
  const created = await Promise.allSettled(
    Array.from({ length: CACHES }, async () => {
      const cache = await orderCache(pilvi);
      answered.push(performance.now() - startedAt);
      await arrive(cache);
      arrivals.push(performance.now() - startedAt);
      await pilvi.untilStatus(cache.id, "available");
      return cache.id;
    }),
  );
  const ids = created.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  await Promise.all(ids.map((id) => pilvi.deleteCache(id)));
  return { answered, arrivals, failures: CACHES - ids.length };
}

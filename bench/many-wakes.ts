// Measures how long many sleeping databases take that are woken at once, beside as many bare engines started at once on
// copies of the files of one database.
import { forEachLimited } from "../src/lib/for-each-limited.ts";
import { printArrivals, type Arrivals } from "./support/arrivals.ts";
import { BareInstance, takeModels, type Model } from "./support/bare-instance.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { ask, firstAnswer } from "./support/clients.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printTarget } from "./support/report.ts";
import { POSTGRES_SLEEPER, suspend, type Sleepy } from "./support/sleepers.ts";
import { settle } from "./support/warmth.ts";

const DATABASES = countOption(50);
const ROUNDS = 5;
/** Herds of clients that try every millisecond would keep a whole core busy. */
const RETRY_MS = 20;
/** The number of creates at a time. */
const AT_ONCE = 4;

await runBench(
  `many-wakes: ${DATABASES} sleeping Postgres woken at once, ${ROUNDS} rounds`,
  async (bench) => {
    const { pilvi } = bench;
    const databases: Sleepy[] = [];
    await forEachLimited(Array.from({ length: DATABASES }), AT_ONCE, async () => {
      databases.push(await POSTGRES_SLEEPER.create(pilvi));
    });
    const models = await takeModels(pilvi, databases.slice(0, 1));
    const [model] = models.values();
    if (model === undefined) throw new Error("there is no model");
    for (const sleepy of databases) await suspend(pilvi, sleepy);
    await measure(bench, databases, model);
  },
);

async function measure(bench: Bench, databases: Sleepy[], model: Model): Promise<void> {
  const { pilvi } = bench;
  const bare = bareInstances(bench, model, databases.length);
  const [example] = databases;
  if (example === undefined) throw new Error("there is no database");
  const rounds: Record<"bare" | "woken", Arrivals[]> = { bare: [], woken: [] };
  let failures = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    await settle(pilvi);
    const ofBare = await startAll(bare, example);
    await settle(pilvi);
    const woken = await wakeAll(databases);
    failures += woken.failures;
    for (const sleepy of databases) await suspend(pilvi, sleepy);
    if (round === 0) continue;
    rounds.bare.push(ofBare);
    rounds.woken.push(woken.arrivals);
  }
  printColumns("first", "median", "last", "x last");
  printArrivals("bare engines, spawn to first answer (baseline)", rounds.bare);
  printArrivals("asleep, TCP connect to first answer", rounds.woken, rounds.bare);
  printTarget("clients that failed", failures, 0, String);
}

async function startAll(engines: BareInstance[], example: Sleepy): Promise<Arrivals> {
  const startedAt = performance.now();
  const arrivals = await Promise.all(
    engines.map(async (engine) => {
      engine.spawn();
      const address = { ...example, place: { unix: engine.socket } };
      return (await firstAnswer(address, RETRY_MS)) - startedAt;
    }),
  );
  await Promise.all(engines.map((engine) => engine.stop(POSTGRES_SLEEPER.stopSignal)));
  return arrivals;
}

async function wakeAll(databases: Sleepy[]): Promise<{ arrivals: Arrivals; failures: number }> {
  const startedAt = performance.now();
  const clients = await Promise.allSettled(
    databases.map(async (sleepy) => {
      const wire = await ask(sleepy);
      const ms = performance.now() - startedAt;
      wire.close();
      return ms;
    }),
  );
  const arrivals = clients.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  for (const each of clients) if (each.status === "rejected") console.error(each.reason);
  return { arrivals, failures: clients.length - arrivals.length };
}

function bareInstances({ pilvi, atEnd }: Bench, model: Model, count: number): BareInstance[] {
  const engines = Array.from({ length: count }, () => new BareInstance(pilvi, model));
  atEnd(async () => void (await Promise.all(engines.map((engine) => engine.kill()))));
  for (const engine of engines) engine.prepare();
  return engines;
}

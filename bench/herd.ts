// Measures how a herd of clients at a sleeping Postgres ends, beside a bare start of the same engine whose clients try
// again and again until they are let in or refused because all connections are taken.
import { POSTGRES } from "../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { printArrivals, type Arrivals } from "./support/arrivals.ts";
import { BareInstance, takeModels } from "./support/bare-instance.ts";
import { runBench } from "./support/bench.ts";
import { ask } from "./support/clients.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printRow, printTarget } from "./support/report.ts";
import {
  createSleepyCluster,
  POSTGRES_SLEEPER,
  serverlessConfig,
  suspend,
  type Sleepy,
} from "./support/sleepers.ts";
import { median } from "./support/statistics.ts";
import { settle } from "./support/warmth.ts";
import { Refusal, type Wire } from "./support/wire.ts";

const CLIENTS = countOption(1_000);
/** The kernel holds smaller clusters to less than one processor, and the bare engine has no limit. */
const COMPUTE_UNITS = 2;
const ROUNDS = 3;
/** Herds of clients that try every millisecond would keep a whole core busy. */
const RETRY_MS = 20;
const GIVE_UP_MS = 60_000;
/** SQLSTATE of Postgres: all connections are taken. */
const TOO_MANY = "53300";

await runBench(
  `herd: ${CLIENTS} clients of one sleeping Postgres at once, ${ROUNDS} rounds`,
  async (bench) => {
    const { pilvi, atEnd } = bench;
    const attributes = { type: POSTGRES, config: serverlessConfig(COMPUTE_UNITS) };
    const sleepy = await createSleepyCluster(pilvi, attributes);
    const model = (await takeModels(pilvi, [sleepy])).get(sleepy.id);
    if (model === undefined) throw new Error("there is no model");
    const bare = new BareInstance(pilvi, model);
    atEnd(() => bare.kill());
    bare.prepare();
    await suspend(pilvi, sleepy);
    await measure(pilvi, sleepy, bare);
  },
);

/** The outcomes of the clients of a herd, in milliseconds since it came. */
interface Herd {
  answered: Arrivals;
  /** The engine refused these clients: all connections are taken. */
  refused: Arrivals;
  failures: number;
}

async function measure(pilvi: TestPilvi, sleepy: Sleepy, bare: BareInstance): Promise<void> {
  const rounds: Record<"bare" | "woken", Herd[]> = { bare: [], woken: [] };
  // The first round warms both sides up and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await settle(pilvi);
    const ofBare = await herd(
      () => attemptUntilAnswered(sleepy, bare),
      () => bare.spawn(),
    );
    await bare.stop(POSTGRES_SLEEPER.stopSignal);
    await settle(pilvi);
    const woken = await herd(() => ask(sleepy));
    await suspend(pilvi, sleepy);
    if (round === 0) continue;
    rounds.bare.push(ofBare);
    rounds.woken.push(woken);
  }
  report(rounds.bare, rounds.woken);
}

/** A client of a bare engine comes back until it is let in, or refused because all connections are taken. */
async function attemptUntilAnswered(sleepy: Sleepy, { socket }: BareInstance): Promise<Wire> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      return await ask({ ...sleepy, place: { unix: socket } });
    } catch (error) {
      if (isTooMany(error) || performance.now() > giveUpAt) throw error;
    }
    await Bun.sleep(RETRY_MS);
  }
}

/** All clients at once; each stays until all have their outcome. @param start is done first and counts. */
async function herd(attempt: () => Promise<Wire>, start: () => void = () => undefined): Promise<Herd> {
  const result: Herd = { answered: [], refused: [], failures: 0 };
  const wires: Wire[] = [];
  const startedAt = performance.now();
  start();
  const clients = Array.from({ length: CLIENTS }, async () => {
    try {
      wires.push(await attempt());
      result.answered.push(performance.now() - startedAt);
    } catch (error) {
      if (isTooMany(error)) return void result.refused.push(performance.now() - startedAt);
      if (result.failures === 0) console.error(error);
      result.failures += 1;
    }
  });
  await Promise.all(clients);
  for (const wire of wires) wire.close();
  return result;
}

function isTooMany(error: unknown): boolean {
  return error instanceof Refusal && error.code === TOO_MANY;
}

function report(bare: Herd[], woken: Herd[]): void {
  const sides = { "bare engine, clients try again (baseline)": bare, "asleep, clients are held": woken };
  printColumns("first", "median", "last", "x last");
  for (const [label, herds] of Object.entries(sides))
    printArrivals(label, herds.map(received), herds === bare ? undefined : bare.map(received));
  printColumns("let in", TOO_MANY, "failed");
  for (const [label, herds] of Object.entries(sides)) {
    const letIn = median(herds.map(({ answered }) => answered.length));
    const refused = median(herds.map((each) => each.refused.length));
    printRow(label, ...[letIn, refused, failuresOf(herds)].map(String));
  }
  const fewer = woken.map(({ answered }, round) => (bare[round]?.answered.length ?? 0) - answered.length);
  console.log("");
  printTarget("clients that failed", failuresOf(woken), 0, String);
  printTarget("clients fewer let in than by the bare engine", Math.max(...fewer), 0, String);
}

/** When each client was let in or refused. */
function received({ answered, refused }: Herd): Arrivals {
  return [...answered, ...refused];
}

function failuresOf(herds: readonly Herd[]): number {
  return herds.reduce((sum, { failures }) => sum + failures, 0);
}

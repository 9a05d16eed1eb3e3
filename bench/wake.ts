// Measures how long a sleeping instance takes from the connection of its first client to the first answer, beside a
// bare start of the same engine on a copy of the same files. The client is the same on both sides, and as small as
// possible.
import { ask, firstAnswer } from "./support/clients.ts";
import { BareInstance, takeModels, type Model } from "./support/bare-instance.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printRow, printTarget, printTimes, times } from "./support/report.ts";
import {
  MYSQL_SLEEPER,
  POSTGRES_SLEEPER,
  spansOfNext,
  suspend,
  VALKEY_SLEEPER,
  wakesOf,
  type Sleeper,
  type Sleepy,
  type Spans,
} from "./support/sleepers.ts";
import { median, percentile } from "./support/statistics.ts";
import { settle } from "./support/warmth.ts";

const ROUNDS = countOption(100);
/** Rounds at the start that warm both sides up and do not count. */
const WARM_UP = 5;
/** The highest ratio of each median to the bare median. */
const MEDIAN_TARGETS = [
  { sleeper: POSTGRES_SLEEPER, ratio: 1.5 },
  { sleeper: MYSQL_SLEEPER, ratio: 1.5 },
  { sleeper: VALKEY_SLEEPER, ratio: 2 },
];
const P99_TARGET = 3;

await runBench(
  `wake: connection to a sleeping instance to first answer, one at a time, ${ROUNDS} rounds`,
  async (bench) => {
    const { pilvi } = bench;
    const instances = await Promise.all(MEDIAN_TARGETS.map(({ sleeper }) => sleeper.create(pilvi)));
    const models = await takeModels(pilvi, instances);
    for (const [index, { sleeper, ratio }] of MEDIAN_TARGETS.entries()) {
      const sleepy = instances[index];
      const model = models.get(sleepy?.id ?? "");
      if (sleepy === undefined || model === undefined) throw new Error(`there is no ${sleeper.label}`);
      report(sleeper, await measure(bench, sleeper, sleepy, model), ratio);
    }
  },
);

/** Milliseconds, a sample for every round. */
interface Samples {
  bare: number[];
  woken: number[];
  spans: Spans[];
  suspended: number[];
}

async function measure(bench: Bench, sleeper: Sleeper, sleepy: Sleepy, model: Model): Promise<Samples> {
  const { pilvi, atEnd } = bench;
  const bare = new BareInstance(pilvi, model);
  atEnd(() => bare.kill());
  bare.prepare();
  const samples: Samples = { bare: [], woken: [], spans: [], suspended: [] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    await settle(pilvi);
    const ofBare = await startBare(bare, sleepy);
    await bare.stop(sleeper.stopSignal);
    const wakes = await wakesOf(pilvi, sleepy);
    const suspendedAt = performance.now();
    await suspend(pilvi, sleepy);
    const suspended = performance.now() - suspendedAt;
    await settle(pilvi);
    const woken = await wake(sleepy);
    const spans = await spansOfNext(pilvi, sleepy, wakes);
    if (round < 0) continue;
    samples.bare.push(ofBare);
    samples.woken.push(woken);
    samples.spans.push(spans);
    samples.suspended.push(suspended);
  }
  return samples;
}

/**
 * The client tries again and again, because no gateway holds it.
 * @returns milliseconds from the spawn to the first answer.
 */
async function startBare(bare: BareInstance, sleepy: Sleepy): Promise<number> {
  const startedAt = performance.now();
  bare.spawn();
  return (await firstAnswer({ ...sleepy, place: { unix: bare.socket } })) - startedAt;
}

/** The client tries once: it is never refused. @returns milliseconds from the connection to the first answer. */
async function wake(sleepy: Sleepy): Promise<number> {
  const startedAt = performance.now();
  const wire = await ask(sleepy);
  const ms = performance.now() - startedAt;
  wire.close();
  return ms;
}

function report({ label }: Sleeper, { bare, woken, spans, suspended }: Samples, ratio: number): void {
  console.log(`\n${label}`);
  printColumns("median", "p99", "x median", "x p99");
  printTimes("bare engine, spawn to first answer (baseline)", bare);
  printTimes("asleep: TCP connect to first answer", woken, bare);
  printTimes("suspend through the API to asleep (not counted above)", suspended);
  console.log(
    `where the time of the second row goes, medians of ${spans.length} rounds as meta.sleep shows them:`,
  );
  const shown = Object.keys(spans[0] ?? {});
  for (const name of shown) printRow(`  ${name}`, milliseconds(medianOf(spans, name)));
  const sums = spans.map((each) => shown.reduce((sum, name) => sum + (each[name] ?? 0), 0));
  printRow(
    "  after that, to the client's first answer",
    milliseconds(median(woken.map((ms, round) => ms - (sums[round] ?? 0)))),
  );
  printTarget(`${label}: median`, median(woken) / median(bare), ratio, times);
  printTarget(`${label}: p99, of the bare median`, percentile(woken, 99) / median(bare), P99_TARGET, times);
}

function medianOf(spans: readonly Spans[], name: string): number {
  return median(spans.map((each) => each[name] ?? Number.NaN));
}

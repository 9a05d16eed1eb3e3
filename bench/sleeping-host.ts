// Measures what a host full of sleeping caches costs beside a host with ten: starts, answers, and the processor time and
// memory of each process at rest. A sleeping cache has no process; each has a port, a manifest and rows in the store.
import { connect } from "node:net";
import { until, type TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { childrenOf, commandLine } from "../tests/support/pilvi/processes.ts";
import { storeOf } from "./support/baselines.ts";
import { runWithoutPilvi, startMeasured, type Endings } from "./support/bench.ts";
import { ask } from "./support/clients.ts";
import { cpuNsOfAllThreads } from "./support/cpu.ts";
import { memoryOf } from "./support/memory.ts";
import { countOption } from "./support/options.ts";
import {
  kilobytes,
  megabytes,
  milliseconds,
  printColumns,
  printRow,
  printTarget,
  times,
} from "./support/report.ts";
import { addSleepingCopies, type SleepingCopy } from "./support/sleeping-copies.ts";
import { suspend, VALKEY_SLEEPER, type Sleepy } from "./support/sleepers.ts";
import { median, percentile } from "./support/statistics.ts";

const FEW = 10;
/** Each takes a port, and an open file in three processes. */
const MANY = countOption(15_000);
const STARTS = 3;
const READS = 300;
const WAKES = 10;
/** Two of the longest interval at which any process does something by itself. */
const REST_MS = 120_000;
/** Work after a start is not rest; the host first measures the disk use of each cache, with a twentieth of its time. */
const SETTLE_MS = 20_000;
const SETTLE_MS_EACH = 10;
/** Longer than the longest such interval. */
const PROBES_MS = 65_000;
const PROBE_PAUSE_MS = 20;
const TARGET = 1.2;
/** Loopback, and apart from the address at which tests listen. */
const ADDRESS = "127.0.0.2";

/** A Pilvi whose caches all sleep. */
interface Asleep {
  pilvi: TestPilvi;
  model: Sleepy;
  copies: SleepingCopy[];
}

interface Figures {
  readyMs: number[];
  answerMs: number[];
  readMs: number[];
  createMs: number[];
  wakeMs: number[];
  probeMs: number[];
  /** The part of one processor that each process takes at rest. */
  load: Record<string, number>;
  /** kB. */
  memory: Record<string, number>;
}

await runWithoutPilvi(`sleeping-host: ${FEW} sleeping caches of a host, and ${MANY}`, async (endings) => {
  const few = await measure(endings, FEW);
  const many = await measure(endings, MANY);
  report(few, many);
});

async function measure(endings: Endings, count: number): Promise<Figures> {
  const asleep = await fill(endings, count);
  const { pilvi } = asleep;
  const starts = await measureStarts(asleep);
  const readMs = await repeat(READS, async () => void (await pilvi.api("GET", asleep.model.path)));
  const createMs = await repeat(WAKES, async () => {
    const { id } = await pilvi.createCache();
    await pilvi.deleteCache(id);
  });
  const wakeMs = await repeat(
    WAKES,
    async () => (await ask(asleep.model)).close(),
    () => suspend(pilvi, asleep.model),
  );
  await Bun.sleep(SETTLE_MS + count * SETTLE_MS_EACH);
  const rest = await measureRest(pilvi);
  const probeMs = await probe(pilvi);
  await pilvi.stop();
  return { ...starts, readMs, createMs, wakeMs, probeMs, ...rest };
}

async function fill(endings: Endings, count: number): Promise<Asleep> {
  const pilvi = await startMeasured({ PILVI_BIND: ADDRESS });
  endings.atEnd(() => pilvi.close());
  const model = await VALKEY_SLEEPER.create(pilvi);
  await suspend(pilvi, model);
  const db = storeOf({ pilvi, ...endings });
  const copies = await addSleepingCopies(pilvi, db, model.id, count - 1);
  return { pilvi, model, copies };
}

/** From the command to the ready line, and to the answer at the address of the last cache. */
async function measureStarts({ pilvi, copies }: Asleep): Promise<Pick<Figures, "readyMs" | "answerMs">> {
  const [readyMs, answerMs]: [number[], number[]] = [[], []];
  const port = copies.at(-1)?.port ?? 0;
  for (let start = 0; start < STARTS; start += 1) {
    await pilvi.stop();
    const startedAt = performance.now();
    const answered = until("the last cache answers", () => answers(port), 600_000).then(() =>
      answerMs.push(performance.now() - startedAt),
    );
    await pilvi.start();
    readyMs.push(performance.now() - startedAt);
    await answered;
  }
  return { readyMs, answerMs };
}

/** Whether the gateway serves the address; a command without a login wakes nothing. */
function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, ADDRESS, () => socket.write("PING\r\n"));
  socket.once("data", () => resolve(true));
  socket.once("error", () => resolve(false));
  socket.once("close", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** @returns how long each repetition took, in milliseconds, without its preparation. */
async function repeat(
  count: number,
  task: () => Promise<void>,
  prepare: () => Promise<void> = () => Promise.resolve(),
): Promise<number[]> {
  const timesMs: number[] = [];
  for (let round = 0; round < count; round += 1) {
    await prepare();
    const startedAt = performance.now();
    await task();
    timesMs.push(performance.now() - startedAt);
  }
  return timesMs;
}

async function measureRest(pilvi: TestPilvi): Promise<Pick<Figures, "load" | "memory">> {
  const processes = processesOf(pilvi);
  const cpuOf = () =>
    Object.fromEntries(Object.entries(processes).map(([name, pids]) => [name, sumOf(pids)]));
  const [before, startedAt] = [cpuOf(), performance.now()];
  await Bun.sleep(REST_MS);
  const [after, passedNs] = [cpuOf(), (performance.now() - startedAt) * 1e6];
  const load = Object.keys(processes).map((name) => [
    name,
    ((after[name] ?? 0) - (before[name] ?? 0)) / passedNs,
  ]);
  const memory = Object.entries(processes).map(([name, pids]) => [name, memoryOf(pids).pss]);
  return { load: Object.fromEntries(load), memory: Object.fromEntries(memory) };
}

/** Asks the host through the control plane: a process that is busy for long by itself shows as a slow answer. */
async function probe(pilvi: TestPilvi): Promise<number[]> {
  const probeMs: number[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < PROBES_MS) {
    const probedAt = performance.now();
    await fetch(`${pilvi.url}/readyz`);
    probeMs.push(performance.now() - probedAt);
    await Bun.sleep(PROBE_PAUSE_MS);
  }
  return probeMs;
}

function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuNsOfAllThreads(pid), 0);
}

function processesOf(pilvi: TestPilvi): Record<string, number[]> {
  const children = childrenOf(pilvi.pid);
  const named = children.map((pid) => [commandLine(pid).at(-1) ?? "", [pid]]);
  const [postmaster] = pilvi.enginePids("store");
  const store = postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)];
  return { up: [pilvi.pid], ...Object.fromEntries(named), store };
}

function report(few: Figures, many: Figures): void {
  printColumns(`${FEW}`, `${MANY}`, "ratio");
  const compare = (label: string, of: (figures: Figures) => number, format: (value: number) => string) =>
    printRow(label, format(of(few)), format(of(many)), times(of(many) / of(few)));
  compare("start to ready", ({ readyMs }) => median(readyMs), milliseconds);
  compare("start to an answer of the last cache", ({ answerMs }) => median(answerMs), milliseconds);
  compare("GET /caches/ID", ({ readMs }) => median(readMs), milliseconds);
  compare("POST to available to gone", ({ createMs }) => median(createMs), milliseconds);
  compare("wake", ({ wakeMs }) => median(wakeMs), milliseconds);
  compare("GET /readyz at rest, median", ({ probeMs }) => median(probeMs), milliseconds);
  compare("GET /readyz at rest, p99", ({ probeMs }) => percentile(probeMs, 99), milliseconds);
  compare("GET /readyz at rest, longest", ({ probeMs }) => percentile(probeMs, 100), milliseconds);
  for (const name of Object.keys(many.load))
    compare(
      `${name}: processor at rest`,
      ({ load }) => (load[name] ?? 0) * 100,
      (value) => `${value.toFixed(2)} %`,
    );
  for (const name of Object.keys(many.memory)) {
    compare(`${name}: PSS`, ({ memory }) => memory[name] ?? 0, megabytes);
    const each = ((many.memory[name] ?? 0) - (few.memory[name] ?? 0)) / (MANY - FEW);
    printRow(`${name}: PSS for each cache`, "", kilobytes(each), "");
  }
  console.log("");
  const total = ({ load }: Figures) => Object.values(load).reduce((sum, value) => sum + value, 0);
  printTarget("processor at rest, all processes", total(many) / total(few), TARGET, times);
}

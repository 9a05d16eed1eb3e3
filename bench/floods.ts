// Measures how long well-behaved clients of other instances wait while 20,000 connections of one kind come and are
// held, beside their waiting times just before and after. The flood takes only the processor time that no other program
// wants (SCHED_IDLE), since the processors of a real attacker are not those of Pilvi. A flood of the WebSocket cluster is
// its owner's affair, so the ratio of that cluster's own client is printed and does not count.
import { processorMs } from "../tests/support/load/hostile-load.ts";
import { besideFlood } from "../tests/support/load/flood.ts";
import { FLOODS, FloodStage, type FloodKind } from "../tests/support/load/flood-stage.ts";
import { besideWellBehaved, type WellBehavedClient } from "../tests/support/load/well-behaved.ts";
import { until } from "../tests/support/pilvi/pilvi.ts";
import { runWithoutPilvi } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import {
  microseconds,
  milliseconds,
  perSecond,
  printColumns,
  printRow,
  printTarget,
  times,
} from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(3);
/** The measured kinds: those whose name has this in it. */
const PART_OF_NAME = process.argv[3] ?? "";
const CONNECTIONS = 20_000;
/** How often each client is served in a time without a flood, and in a flood once all its connections were opened. */
const USES = 20;
const WATCH_MS = 240_000;
const MOST_DESCRIPTORS = 500;
const TARGET = 2;

/** The waiting times of each client in a time. */
type Waits = number[][];

interface Round {
  usual: Waits;
  /** While the connections come. */
  coming: Waits;
  /** While they come, and while they are held afterwards. */
  during: Waits;
  /** The processor time of the flooded process for each connection that came. */
  costUs: number;
  perSecond: number;
}

await runWithoutPilvi("floods: 20,000 connections, and clients of other instances", async ({ atEnd }) => {
  const stage = await FloodStage.begin();
  atEnd(() => stage.end());
  let worst = 0;
  printColumns("usual", "during", "x", "coming", "x coming");
  for (const kind of FLOODS.filter(({ name }) => name.includes(PART_OF_NAME))) {
    worst = Math.max(worst, await measure(stage, kind));
  }
  console.log("");
  printTarget("the largest ratio of medians", worst, TARGET, times);
});

/** Prints the rows of a kind. @returns the largest ratio. */
async function measure(stage: FloodStage, kind: FloodKind): Promise<number> {
  const rounds: Round[] = [];
  const experiences = await besideWellBehaved(stage.wellBehaved, async (clients) => {
    while (rounds.length < ROUNDS) rounds.push(await measureRound(stage, kind, clients));
  });
  const costUs = median(rounds.map((round) => round.costUs));
  const rate = perSecond(median(rounds.map((round) => round.perSecond)));
  console.log(`${kind.name} (${rate}, ${microseconds(costUs)} of a processor each)`);
  const ratios = stage.wellBehaved.flatMap(({ protocol }, client) => {
    const of = (select: (round: Round) => Waits) =>
      rounds.map((round) => median(select(round)[client] ?? []));
    const usual = of((round) => round.usual);
    const during = of((round) => round.during);
    const coming = of((round) => round.coming);
    const ratio = (ms: number[]) => median(ms.map((each, round) => each / (usual[round] ?? 0)));
    const figures = [milliseconds(median(usual)), milliseconds(median(during)), times(ratio(during))];
    const { failures, retransmissions } = experiences[client] ?? { failures: [], retransmissions: 0 };
    const faults = `${failures.length} failures, ${retransmissions} retransmissions`;
    printRow(`  ${protocol}, ${faults}`, ...figures, milliseconds(median(coming)), times(ratio(coming)));
    return protocol === "websocket" && kind.at === "websocket" ? [] : [ratio(during)];
  });
  return Math.max(...ratios);
}

/** The usual waits are those before and after the flood, so that a machine that gets busier is no part of a ratio. */
async function measureRound(
  stage: FloodStage,
  kind: FloodKind,
  clients: readonly WellBehavedClient[],
): Promise<Round> {
  const before = await waitsWhile(clients, () => untilUsed(clients, USES));
  const pid = stage.floodedPid(kind);
  const [cpuMs, beganAtMs] = [processorMs(pid), performance.now()];
  const order = { ...stage.orderOf(kind), count: CONNECTIONS, isModest: true };
  const begins = clients.map(({ ms }) => ms.length);
  const came = { coming: [] as Waits, costUs: 0, perSecond: 0 };
  const during = await waitsWhile(clients, () =>
    besideFlood(order, async () => {
      came.perSecond = (CONNECTIONS * 1_000) / (performance.now() - beganAtMs);
      came.costUs = ((processorMs(pid) - cpuMs) * 1_000) / CONNECTIONS;
      // A client that waits since the flood began has this wait as its only wait.
      await untilUsed(clients, 1, begins);
      came.coming = clients.map(({ ms }, index) => ms.slice(begins[index]));
      await untilUsed(clients, USES);
    }),
  );
  await until("the flood has left", () => stage.descriptors(kind) < MOST_DESCRIPTORS, WATCH_MS);
  const after = await waitsWhile(clients, () => untilUsed(clients, USES));
  const usual = before.map((waits, client) => waits.concat(after[client] ?? []));
  return { usual, during, ...came };
}

async function waitsWhile(
  clients: readonly WellBehavedClient[],
  action: () => Promise<unknown>,
): Promise<Waits> {
  const begins = clients.map(({ ms }) => ms.length);
  await action();
  return clients.map(({ ms }, index) => ms.slice(begins[index]));
}

/** Resolves when every client was served so often since then, which is now when left out. */
async function untilUsed(
  clients: readonly WellBehavedClient[],
  uses: number,
  since: number[] = clients.map(({ ms }) => ms.length),
): Promise<void> {
  const isServed = () => clients.every(({ ms }, index) => ms.length >= (since[index] ?? 0) + uses);
  await until("every client was served", isServed, WATCH_MS);
}

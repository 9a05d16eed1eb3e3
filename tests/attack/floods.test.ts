// Floods of 20,000 connections, beside which other customers are served. How long they wait is printed beside their usual
// time of the same run; what is bounded are failures and second attempts of their kernels, which no busy machine causes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { besideFlood } from "../support/load/flood.ts";
import { FLOODS, FloodStage } from "../support/load/flood-stage.ts";
import { besideWellBehaved, type Experience, type WellBehavedClient } from "../support/load/well-behaved.ts";
import { until } from "../support/pilvi/pilvi.ts";

const CONNECTIONS = 20_000;
/** How often each well-behaved client connects in a measurement, and how long that may take. */
const USES = 20;
const WATCH_MS = 120_000;
/** While a flood begins, a client may be taken for a part of it, and has to connect again. */
const MOST_FAILURES = 2;
/**
 * While a queue of connections is full, the kernels of clients send again after 0.2, 0.6, 1.4, 3 and 6 s. A first time
 * may come of a late answer on a busy machine.
 */
const MOST_RETRANSMISSIONS = 1;

let stage: FloodStage;
let usual: Experience[];

beforeAll(async () => {
  stage = await FloodStage.begin();
  usual = await besideWellBehaved(stage.wellBehaved, untilUsedAgain);
});

afterAll(async () => {
  await stage.end();
});

/** Resolves when every client was served so often from now on. */
async function untilUsedAgain(clients: readonly WellBehavedClient[]): Promise<void> {
  const enough = clients.map(({ ms }) => ms.length + USES);
  const isServed = () => clients.every(({ ms }, index) => ms.length >= (enough[index] ?? 0));
  await until("every client was served", isServed, WATCH_MS);
}

/** What is printed of a client: its usual and its present times, and what it had to do again. */
function comparison(index: number, { medianMs, longestMs, failures, retransmissions }: Experience): string {
  const before = usual[index];
  const waits = `median ${before?.medianMs} -> ${medianMs} ms, longest ${before?.longestMs} -> ${longestMs} ms`;
  const { protocol } = stage.wellBehaved[index] ?? {};
  return `  ${protocol}: ${waits}, ${failures.length} failures, ${retransmissions} retransmissions in a row`;
}

test.each(FLOODS.map((flood) => [flood.name, flood] as const))("%s", async (_, kind) => {
  const flood = { ...stage.orderOf(kind), count: CONNECTIONS };
  let figures = { opened: 0, held: 0 };
  // The clients are there before the flood begins, which is when it is worst.
  const experiences = await besideWellBehaved(stage.wellBehaved, async (clients) => {
    figures = await besideFlood(flood, () => untilUsedAgain(clients));
  });
  const lines = experiences.map((experience, index) => comparison(index, experience));
  console.log([`${figures.opened} opened, ${figures.held} held at the end`, ...lines].join("\n"));
  expect(figures.opened).toBeGreaterThanOrEqual(CONNECTIONS);
  for (const [index, { failures, uses, retransmissions }] of experiences.entries()) {
    expect(failures.length, failures.join("\n")).toBeLessThanOrEqual(MOST_FAILURES);
    expect(uses).toBeGreaterThanOrEqual(USES);
    // A WebSocket cluster has one queue, which the flood fills too.
    if (kind.at === "websocket" && stage.wellBehaved[index]?.protocol === kind.at) continue;
    expect(retransmissions).toBeLessThanOrEqual(MOST_RETRANSMISSIONS);
  }
});

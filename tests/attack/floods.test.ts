// Floods of 20,000 connections, beside which other customers are served. How long they wait is printed beside their usual
// time of the same run; what is bounded are failures and second attempts of their kernels, which no busy machine causes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { besideFlood } from "../support/load/flood.ts";
import { besideWellBehaved, type Experience, type WellBehavedPlace } from "../support/load/well-behaved.ts";
import { TOKEN, until } from "../support/pilvi/pilvi.ts";
import { HostileLoad, type Place } from "../support/load/hostile-load.ts";
import { createServer } from "../support/pilvi/websockets.ts";
import floods from "./data/floods.json" with { type: "json" };

const CONNECTIONS = 20_000;
/** The descriptors that each process of the Pilvi may open: no more than the flood takes. */
const OPEN_FILES = 20_000;
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

let hostileLoad: HostileLoad;
let places: Record<string, { port: number; password: string }>;
let wellBehaved: WellBehavedPlace[];
let usual: Experience[];

beforeAll(async () => {
  hostileLoad = await HostileLoad.begin({ openFiles: OPEN_FILES });
  const { pilvi } = hostileLoad;
  const { server, main } = await createServer(pilvi);
  const websocket = { port: Number(new URL(server.meta.url).port), password: main.attributes.key ?? "" };
  const api = { port: pilvi.port, password: TOKEN };
  // The flood with a valid token is another organization's.
  const made = await pilvi.run("token", "create", "--name", "neighbour", "--organization", "neighbours");
  const otherToken = made.stdout.trim();
  const target = (protocol: Place["protocol"]): Place => {
    const found = hostileLoad.targets.find((place) => place.protocol === protocol);
    if (found === undefined) throw new Error(`there is no target that speaks ${protocol}`);
    return found;
  };
  places = { postgres: target("postgres"), mysql: target("mysql"), cache: target("redis"), api, websocket };
  wellBehaved = [
    ...hostileLoad.neighbours,
    { protocol: "api", port: pilvi.port, password: otherToken },
    { protocol: "websocket", ...websocket },
  ];
  usual = await besideWellBehaved(wellBehaved, untilUsedAgain);
});

afterAll(async () => {
  await hostileLoad.end();
});

/** Resolves when every client was served so often from now on. */
async function untilUsedAgain(clients: { readonly uses: number }[]): Promise<void> {
  const enough = clients.map(({ uses }) => uses + USES);
  const isServed = () => clients.every(({ uses }, index) => uses >= (enough[index] ?? 0));
  await until("every client was served", isServed, WATCH_MS);
}

/** What is printed of a client: its usual and its present times, and what it had to do again. */
function comparison(index: number, { medianMs, longestMs, failures, retransmissions }: Experience): string {
  const before = usual[index];
  const waits = `median ${before?.medianMs} -> ${medianMs} ms, longest ${before?.longestMs} -> ${longestMs} ms`;
  const { protocol } = wellBehaved[index] ?? {};
  return `  ${protocol}: ${waits}, ${failures.length} failures, ${retransmissions} retransmissions in a row`;
}

test.each(floods.map((flood) => [flood.name, flood] as const))("%s", async (_, { at, words }) => {
  const place = places[at];
  if (place === undefined) throw new Error(`there is nothing to flood that is called ${at}`);
  const said = words
    .replace("PASSWORD", place.password)
    .replace("TOKEN", TOKEN)
    .replace("KEY", place.password);
  const flood = { port: place.port, count: CONNECTIONS, words: Buffer.from(said, "latin1") };
  let figures = { opened: 0, held: 0 };
  // The clients are there before the flood begins, which is when it is worst.
  const experiences = await besideWellBehaved(wellBehaved, async (clients) => {
    figures = await besideFlood(flood, () => untilUsedAgain(clients));
  });
  const lines = experiences.map((experience, index) => comparison(index, experience));
  console.log([`${figures.opened} opened, ${figures.held} held at the end`, ...lines].join("\n"));
  expect(figures.opened).toBeGreaterThanOrEqual(CONNECTIONS);
  for (const [index, { failures, uses, retransmissions }] of experiences.entries()) {
    expect(failures.length, failures.join("\n")).toBeLessThanOrEqual(MOST_FAILURES);
    expect(uses).toBeGreaterThanOrEqual(USES);
    // A WebSocket cluster has one queue, which the flood fills too.
    if (at === "websocket" && wellBehaved[index]?.protocol === at) continue;
    expect(retransmissions).toBeLessThanOrEqual(MOST_RETRANSMISSIONS);
  }
});

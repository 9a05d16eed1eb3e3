// Floods of 20,000 connections, beside which other customers are served within twice their usual time.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { besideFlood } from "../support/load/flood.ts";
import { watchWellBehaved, type Experience, type WellBehavedPlace } from "../support/load/well-behaved.ts";
import { TOKEN } from "../support/pilvi/pilvi.ts";
import { HostileLoad, type Place } from "../support/load/hostile-load.ts";
import { createServer } from "../support/pilvi/websockets.ts";
import floods from "./data/floods.json" with { type: "json" };

const CONNECTIONS = 20_000;
/** The descriptors that each process of the Pilvi may open: no more than the flood takes. */
const OPEN_FILES = 20_000;
/** How often each well-behaved client connects in a measurement, and how long that may take. */
const USES = 20;
const WATCH_MS = 20_000;
/** Twice the usual time, or this time on a busy machine. */
const TIMES_USUAL = 2;
const FLOOR_MS = 1_000;
/**
 * The longest wait of a client that connects with the flood: its kernel tries again after 1, 3 and 7 s while the
 * backlog is full.
 */
const LONGEST_MS = 10_000;
/** While a flood begins, a client may be taken for a part of it, and has to connect again. */
const MOST_FAILURES = 2;

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
  const target = (protocol: Place["protocol"]): Place => {
    const found = hostileLoad.targets.find((place) => place.protocol === protocol);
    if (found === undefined) throw new Error(`there is no target that speaks ${protocol}`);
    return found;
  };
  places = { postgres: target("postgres"), mysql: target("mysql"), cache: target("redis"), api, websocket };
  wellBehaved = [
    ...hostileLoad.neighbours,
    { protocol: "api", ...api },
    { protocol: "websocket", ...websocket },
  ];
  usual = await watch();
});

afterAll(async () => {
  await hostileLoad.end();
});

/** The times of well-behaved clients. */
function watch(): Promise<Experience[]> {
  return watchWellBehaved(wellBehaved, USES, WATCH_MS);
}

function limitMs(index: number): number {
  return Math.max(FLOOR_MS, (usual[index]?.medianMs ?? 0) * TIMES_USUAL);
}

test.each(floods.map((flood) => [flood.name, flood] as const))("%s", async (_, { at, words }) => {
  const place = places[at];
  if (place === undefined) throw new Error(`there is nothing to flood that is called ${at}`);
  const said = words
    .replace("PASSWORD", place.password)
    .replace("TOKEN", TOKEN)
    .replace("KEY", place.password);
  let experiences: Experience[] = [];
  const flood = { port: place.port, count: CONNECTIONS, words: Buffer.from(said, "latin1") };
  const figures = await besideFlood(flood, async () => {
    experiences = await watch();
  });
  console.log(JSON.stringify({ figures, usual, experiences }));
  expect(figures.opened).toBeGreaterThanOrEqual(CONNECTIONS);
  for (const [index, { failures, uses, medianMs, longestMs }] of experiences.entries()) {
    expect(failures.length, failures.join("\n")).toBeLessThanOrEqual(MOST_FAILURES);
    expect(uses + failures.length).toBeGreaterThanOrEqual(USES);
    expect(medianMs).toBeLessThan(limitMs(index));
    expect(longestMs).toBeLessThan(LONGEST_MS);
  }
});

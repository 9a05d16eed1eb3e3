// Customers who ask for too much: crowds, slow readers, long pipelines, and sleep at the worst of times.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Client } from "pg";
import { until } from "../support/pilvi/pilvi.ts";
import { makePostgres, pssKb, HostileLoad, type Place } from "../support/load/hostile-load.ts";

const HERD = 1_000;
const DATABASES = 50;
/** Each client may take two of the gateway's descriptors, of which many systems give 20,000 to a process. */
const IDLE = 9_000;
const PIPELINE = 100_000;
const STORM_MS = 10_000;
/** The memory that the gateway may hold of an answer of 500 MB, and garbage that is not collected yet. */
const SLOW_READER_KB = 64 * 1024;

let hostileLoad: HostileLoad;
let postgres: Place;
let cache: Place;

beforeAll(async () => {
  hostileLoad = await HostileLoad.begin();
  const [first, , third] = hostileLoad.targets;
  if (first === undefined || third === undefined) throw new Error("there is nothing to use");
  [postgres, cache] = [first, third];
});

afterAll(async () => {
  await hostileLoad.end();
});

async function login({ port, password }: Place): Promise<Client> {
  const client = new Client({ host: "127.0.0.1", port, user: "app", password, database: "main" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Logs in so many at a time. @returns the accepted clients, and the error codes of the others. */
async function crowd(places: Place[]): Promise<{ clients: Client[]; codes: Set<unknown>; tookMs: number }> {
  const beganAt = performance.now();
  const clients: Client[] = [];
  const codes = new Set<unknown>();
  const come = async (place: Place): Promise<void> => {
    try {
      clients.push(await login(place));
    } catch (error) {
      codes.add((error as { code?: unknown }).code ?? String(error));
    }
  };
  await Promise.all(places.map(come));
  return { clients, codes, tookMs: Math.round(performance.now() - beganAt) };
}

async function leave(clients: Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.end()));
}

test("a herd of clients fills the free places by one start, and the others get the reason", async () => {
  const { clients, codes, tookMs } = await crowd(Array.from({ length: HERD }, () => postgres));
  console.log("herd", { tookMs, letIn: clients.length, codes: [...codes], ...hostileLoad.gateway() });
  expect(clients.length).toBeGreaterThanOrEqual(100);
  expect([...codes]).toEqual(["53300"]);
  expect((await hostileLoad.awake()).wakes).toBe(1);
  await leave(clients);
}, 120_000);

test("fifty databases that are woken at once all wake", async () => {
  const places: Place[] = [];
  for (let count = 0; count < DATABASES; count += 1) places.push(await makePostgres(hostileLoad.pilvi));
  for (const { path } of places) await hostileLoad.suspend(path);
  const { clients, codes, tookMs } = await crowd(places);
  console.log("fifty", { tookMs, ...hostileLoad.gateway() });
  expect([...codes]).toEqual([]);
  expect(clients.length).toBe(DATABASES);
  await leave(clients);
}, 600_000);

test("a client that does not read costs nothing, and keeps its database awake", async () => {
  const client = await login(postgres);
  const before = hostileLoad.gateway();
  const answer = client.query("select repeat('x', 1000000) from generate_series(1, 500)");
  client.connection.stream.pause();
  await expect(hostileLoad.suspend(postgres.path)).rejects.toThrow("runs a query");
  expect(pssKb(before.pid) - before.pssKb).toBeLessThan(SLOW_READER_KB);
  client.connection.stream.resume();
  expect((await answer).rowCount).toBe(500);
  // What passed through is garbage, which is collected and given back a while later.
  await until("the memory is free again", () => pssKb(before.pid) - before.pssKb < SLOW_READER_KB);
  await client.end();
}, 120_000);

/** A client of the cache that has logged in; only whole lines are counted. */
class CacheClient {
  readonly #socket: Socket;
  lines = 0;
  isClosed = false;

  constructor({ port, password }: Place) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("data", (bytes) => {
      for (const byte of bytes) if (byte === 10) this.lines += 1;
    });
    this.#socket.on("close", () => {
      this.isClosed = true;
    });
    this.#socket.on("error", () => undefined);
    this.say(`AUTH ${password}\r\n`);
  }

  say(text: string): void {
    this.#socket.write(text);
  }

  close(): void {
    this.#socket.destroy();
  }
}

test("a pipeline of 100,000 commands at a sleeping cache is answered whole", async () => {
  const client = new CacheClient(cache);
  client.say("INCR pipelined\r\n".repeat(PIPELINE));
  await until("all is answered", () => client.lines === PIPELINE + 1);
  client.close();
});

test("9,000 idle clients sleep with their cache, and some thousands come back at once", async () => {
  const clients: CacheClient[] = [];
  try {
    while (clients.length < IDLE) {
      for (let count = 0; count < 200; count += 1) clients.push(new CacheClient(cache));
      await until("they are let in", () => clients.every(({ lines }) => lines === 1));
    }
    console.log("idle", hostileLoad.gateway());
    await hostileLoad.suspend(cache.path);
    console.log("asleep", hostileLoad.gateway(), "works", await hostileLoad.idleShare());
    const back = clients.slice(0, IDLE / 2);
    for (const client of back) client.say("GET nothing\r\n");
    await until("they are answered", () => back.every(({ lines }) => lines === 2), 60_000);
    expect(clients.some(({ isClosed }) => isClosed)).toBe(false);
  } finally {
    for (const client of clients) client.close();
  }
}, 120_000);

test("no client is refused while the cluster is suspended again and again", async () => {
  const endsAt = performance.now() + STORM_MS;
  const counts = { logins: 0, sleeps: 0 };
  const codes = new Set<unknown>();
  const come = async (): Promise<void> => {
    for (; performance.now() < endsAt; counts.logins += 1) {
      const { clients, codes: faults } = await crowd([postgres]);
      for (const fault of faults) codes.add(fault);
      await leave(clients);
    }
  };
  const putToSleep = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const { status } = await hostileLoad.pilvi.api("POST", `${postgres.path}/suspend`);
      if (status === 200) counts.sleeps += 1;
    }
  };
  await Promise.all([come(), come(), come(), come(), putToSleep()]);
  console.log("storm", counts);
  expect([...codes]).toEqual([]);
  expect(counts.sleeps).toBeGreaterThan(0);
}, 120_000);

test("the gateway has the same process and memory, and is idle", async () => {
  await until("all have gone", () => hostileLoad.gateway().descriptors < 120);
  await until("it rests", async () => (await hostileLoad.idleShare()) < 0.02);
  console.log("in the end", hostileLoad.gateway());
});

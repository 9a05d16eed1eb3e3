// Minutes of clients that connect, stay, break off and lose their engine to sleep: host and gateway end as they began.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import { Client } from "pg";
import { shortened } from "../crash/share.ts";
import { MYSQL_CONNECT_TIMEOUT_MS, processesOf } from "../support/pilvi/databases.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import {
  makeCache,
  makeMysql,
  makePostgres,
  processorMs,
  pssKb,
  type Place,
} from "../support/load/hostile-load.ts";
import { randomNumbers } from "../support/load/raw-client.ts";

const SEED = 20_261_121;
const ROUND_MS = shortened(60_000);
/** The first round warms up permanent memory; later rounds may add nothing to it. */
const ROUNDS = 3;
const WORKERS = 10;
/** The tolerance for memory from round to round. */
const PSS_SLACK_KB = 48 * 1024;
const DESCRIPTOR_SLACK = 4;
const REFUSED = "not let in";

let pilvi: TestPilvi;
const places: Place[] = [];
const random = randomNumbers(SEED);
const counts = { uses: 0, broken: 0, sleeps: 0, awake: 0 };

beforeAll(async () => {
  pilvi = await startPilvi();
  for (let count = 0; count < 5; count += 1) places.push(await makePostgres(pilvi));
  for (let count = 0; count < 3; count += 1) places.push(await makeMysql(pilvi));
  for (let count = 0; count < 5; count += 1) places.push(await makeCache(pilvi));
}, 300_000);

afterAll(async () => {
  await pilvi.close();
});

/** A session that can be used, ended, and broken off. */
interface Session {
  use(): Promise<unknown>;
  end(): Promise<unknown>;
  breakOff(): void;
}

async function open({ protocol, port, password }: Place): Promise<Session> {
  const login = { host: "127.0.0.1", port, user: "app", password, database: "main" };
  if (protocol === "postgres") {
    const client = new Client(login);
    client.on("error", () => undefined);
    await client.connect();
    return {
      use: () => client.query("select 1"),
      end: () => client.end(),
      breakOff: () => client.connection.stream.destroy(),
    };
  }
  if (protocol === "mysql") {
    const client = await createConnection({ ...login, connectTimeout: MYSQL_CONNECT_TIMEOUT_MS });
    client.on("error", () => undefined);
    return { use: () => client.query("select 1"), end: () => client.end(), breakOff: () => client.destroy() };
  }
  const client = new Redis({ host: "127.0.0.1", port, password, retryStrategy: () => null });
  client.on("error", () => undefined);
  return {
    use: () => client.incr("uses"),
    end: () => client.quit(),
    breakOff: () => client.disconnect(),
  };
}

async function act(place: Place): Promise<void> {
  const choice = random(10);
  if (choice === 0) {
    const { status } = await pilvi.api("POST", `${place.path}/suspend`);
    counts[status === 200 ? "sleeps" : "awake"] += 1;
    return;
  }
  const session = await open(place).catch((error: unknown) => {
    throw new Error(`${REFUSED}: ${String(error)}`);
  });
  if (choice < 4) {
    // The answer of a command under way never arrives.
    session.use().catch(() => undefined);
    session.breakOff();
    counts.broken += 1;
    return;
  }
  for (let uses = random(20); uses >= 0; uses -= 1) await session.use();
  await session.end();
  counts.uses += 1;
}

/** @returns the error; a sleep may end a session that was idle. */
async function work(untilMs: number): Promise<string[]> {
  const faults: string[] = [];
  while (performance.now() < untilMs) {
    const place = places[random(places.length)];
    if (place === undefined) continue;
    try {
      await act(place);
    } catch (error) {
      faults.push(`${place.protocol}: ${String(error)}`);
    }
  }
  return faults;
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function memoryOf(pids: readonly number[]): number[] {
  return pids.map(pssKb);
}

function figures() {
  const [gateway, host] = [pilvi.runningPid("gateway"), pilvi.runningPid("host")];
  return {
    pids: [gateway, host],
    pssKb: memoryOf([gateway, host]),
    descriptors: [descriptorsOf(gateway), descriptorsOf(host)],
  };
}

/** Garbage is collected, and given back, only some time after the work that made it. */
async function untilFreed({ pids, pssKb: before }: ReturnType<typeof figures>): Promise<void> {
  const isFreed = () => memoryOf(pids).every((kb, index) => kb - (before[index] ?? 0) < PSS_SLACK_KB);
  await until("the memory of the round is free again", isFreed);
}

async function allAsleep(): Promise<void> {
  for (const { id, path } of places) {
    await until(`${id} sleeps`, async () => (await pilvi.api("POST", `${path}/suspend`)).status === 200);
    expect(processesOf(pilvi, id)).toEqual([]);
  }
}

test("clients and sleeps leave no memory, descriptor or process in host and gateway", async () => {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const untilMs = performance.now() + ROUND_MS;
    const faults = (await Promise.all(Array.from({ length: WORKERS }, () => work(untilMs)))).flat();
    await allAsleep();
    const [warm] = rounds;
    if (warm !== undefined) await untilFreed(warm);
    rounds.push(figures());
    console.log(JSON.stringify(rounds.at(-1)), JSON.stringify(counts), faults.length, faults.slice(0, 3));
    expect(faults.filter((fault) => !isEndedBySleep(fault))).toEqual([]);
  }
  const [first, ...later] = rounds;
  if (first === undefined) throw new Error("there was no round");
  for (const { pids, descriptors } of later) {
    expect(pids).toEqual(first.pids);
    for (const index of [0, 1]) {
      expect((descriptors[index] ?? 0) - (first.descriptors[index] ?? 0)).toBeLessThanOrEqual(
        DESCRIPTOR_SLACK,
      );
    }
  }
  await until("the gateway rests", async () => (await idleMs(first.pids[0] ?? 0)) < 20);
}, 600_000);

/** A session that pauses between two statements is idle, and a requested sleep ends it; a login waits for its end. */
function isEndedBySleep(fault: string): boolean {
  const endings = /terminat|closed|gone away|not queryable|PROTOCOL_CONNECTION_LOST|ECONNRESET/i;
  return !fault.includes(REFUSED) && endings.test(fault);
}

/** The processor time of a process in a second. */
async function idleMs(pid: number): Promise<number> {
  const before = processorMs(pid);
  await Bun.sleep(1_000);
  return processorMs(pid) - before;
}

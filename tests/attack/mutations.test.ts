// Clients that send valid bytes of each protocol with some of them changed: all others are served, by the same processes,
// and nothing of it is kept.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { EDGE_ID } from "../../src/contracts/edge-id.ts";
import { randomOf } from "../../src/realtime/test-support.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { bunServer, TestApplication } from "../support/pilvi/applications.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { type TestPilvi, TOKEN } from "../support/pilvi/pilvi.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";
import { mutated } from "../support/wire/mutated-bytes.ts";
import data from "./data/mutations.json";

/** Clients that send at the same time. */
const CLIENTS = 20;
/** Garbage that is not collected yet, and code that was compiled. */
const MAX_GROWTH_KB = 200 * 1024;

const PROCESSES = ["gateway", "host", "control"] as const;

type Server = "postgres" | "mysql" | "cache" | "api" | "edge";

interface Attack {
  name: string;
  to: string;
  /** The bytes as a text, in which `TOKEN` and `NAME` stand for a valid token and the name of the application. */
  text?: string;
  hex?: string;
}

let pilvi: TestPilvi;
let postgres: DatabaseClusterResource;
let mysql: DatabaseClusterResource;
let cache: CacheResource;
let application: TestApplication;
let domain: string;
let before: { pid: number; kilobytes: number }[];
let edgePids: number[];

beforeAll(async () => {
  pilvi = await startDatabases();
  application = await TestApplication.create(pilvi);
  [postgres, mysql, cache] = await Promise.all([
    createCluster(pilvi, { name: "postgres" }),
    createCluster(pilvi, { name: "mysql", type: MYSQL }),
    pilvi.createCache({ name: "cache", uses_hibernation: true }),
    application.deploy(bunServer("served")),
  ]);
  domain = (await application.environment()).attributes.vanity_domain;
  await new Sleeper(pilvi, cache).sleep();
  before = PROCESSES.map(sizeOf);
  edgePids = pilvi.enginePids(EDGE_ID);
  expect(edgePids).toHaveLength(1);
}, 120_000);

afterAll(async () => await pilvi.close());

function sizeOf(name: (typeof PROCESSES)[number]): { pid: number; kilobytes: number } {
  const pid = pilvi.runningPid(name);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { pid, kilobytes: Number(kilobytes) };
}

function portOf(server: Server): number {
  return {
    postgres: postgres.attributes.connection.port,
    mysql: mysql.attributes.connection.port,
    cache: cache.attributes.connection.port,
    api: pilvi.port,
    edge: Number(pilvi.env.PILVI_EDGE_HTTP),
  }[server];
}

function bytesOf({ text = "", hex }: Attack): Buffer {
  if (hex !== undefined) return Buffer.from(hex, "hex");
  return Buffer.from(text.replaceAll("TOKEN", TOKEN).replaceAll("NAME", domain), "latin1");
}

/** Sends bytes and the end, and resolves when the server has ended as well. */
async function send(port: number, bytes: Buffer): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.resume();
  socket.end(bytes);
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}

async function expectServed(): Promise<void> {
  const pg = await connectPg(postgres);
  expect(await firstOf(pg, "select 42")).toBe(42);
  await pg.end();
  const sql = await connectMysql(mysql);
  expect(await firstOfMysql(sql, "select 42")).toBe(42);
  await sql.end();
  expect((await pilvi.api("GET", `/caches/${cache.id}`)).status).toBe(200);
  expect(await application.text()).toBe("served");
}

test.each(data.attacks.map((attack) => [attack.name, attack] as const))("%s", async (_, attack: Attack) => {
  const [port, bytes] = [portOf(attack.to as Server), bytesOf(attack)];
  for (const seed of data.seeds) {
    const random = randomOf(seed);
    for (let round = 0; round < data.rounds; round += CLIENTS)
      await Promise.all(Array.from({ length: CLIENTS }, () => send(port, mutated(random, bytes))));
  }
  await expectServed();
  const after = PROCESSES.map(sizeOf);
  expect(after.map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
  expect(pilvi.enginePids(EDGE_ID)).toEqual(edgePids);
  for (const [index, { kilobytes }] of after.entries())
    expect(kilobytes - (before[index]?.kilobytes ?? 0), PROCESSES[index]).toBeLessThan(MAX_GROWTH_KB);
  expect((await new Sleeper(pilvi, cache).state()).state).toBe("asleep");
});

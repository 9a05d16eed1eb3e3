// An address is never free for another program while its instance lives, also when host and gateway are killed at the
// same instant.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { Redis } from "ioredis";
import { guardBinding } from "../../src/host/os/bind-guard.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
} from "../support/pilvi/databases.ts";
import {
  cacheBody,
  Failpoints,
  startPilvi,
  until,
  type CacheDocument,
  type TestPilvi,
} from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { requestSuspend } from "../support/pilvi/suspends.ts";
import { startThief, type Thief } from "../support/load/thieves.ts";
import { createServer, publish, type TestServer } from "../support/pilvi/websockets.ts";

const ROUNDS = 5;
/** An event that any application accepts. */
const EVENT = { channel: "news", name: "sent", data: "{}" };

/** How a thief took an address that it asked to reuse. */
const REUSED = /\[2(,15)?\]$/;

const points = new Failpoints();
let pilvi: TestPilvi;
let sleeper: CacheResource;
let direct: CacheResource;
let postgres: DatabaseClusterResource;
let mysql: DatabaseClusterResource;
let websockets: TestServer;
const thieves: Thief[] = [];

beforeAll(async () => {
  pilvi = await startPilvi({ env: points.env });
  [sleeper, direct, postgres, mysql, websockets] = await Promise.all([
    pilvi.createCache({ uses_hibernation: true }),
    pilvi.createCache({ uses_hibernation: false }),
    createCluster(pilvi),
    createCluster(pilvi, { type: MYSQL }),
    createServer(pilvi),
  ]);
});

afterEach(async () => {
  await Promise.all(thieves.splice(0).map((thief) => thief.close()));
});

afterAll(async () => {
  await pilvi.close();
  points.close();
});

const portOf = ({ attributes }: CacheResource | DatabaseClusterResource) => attributes.connection.port;

async function thiefAt(...ports: number[]): Promise<Thief> {
  const thief = await startThief(pilvi.builtProgram()[0], ports);
  thieves.push(thief);
  return thief;
}

/** Connects to a port again and again until it is stopped; counts the refused connections. */
function knock(port: number) {
  const state = { refused: 0, connected: 0, isOver: false };
  const again = (): void => {
    if (state.isOver) return;
    const socket = connect(port, "127.0.0.1", () => {
      state.connected += 1;
      socket.destroy();
    });
    socket.on("error", () => (state.refused += 1)).on("close", () => setTimeout(again, 1));
  };
  again();
  return state;
}

/** Kills both, and engines with them, at the same instant; resolves when Pilvi is ready again. */
async function killHostAndGateway(...engines: number[]): Promise<void> {
  const former = new Set([pilvi.pidOf("host"), pilvi.pidOf("gateway"), undefined]);
  pilvi.kill("host", "gateway");
  for (const pid of engines) killIfThere(pid);
  await until("others run", () => !former.has(pilvi.pidOf("host")) && !former.has(pilvi.pidOf("gateway")));
  await pilvi.untilReady();
}

async function ping({ attributes }: CacheResource): Promise<string> {
  const { port, password } = attributes.connection;
  const redis = new Redis({ host: "127.0.0.1", port, password: password ?? "" });
  redis.on("error", () => {});
  const answer = await redis.ping();
  redis.disconnect();
  return answer;
}

async function expectAllServed(): Promise<void> {
  expect(await Promise.all([ping(sleeper), ping(direct)])).toEqual(["PONG", "PONG"]);
  const pg = await connectPg(postgres);
  expect(await firstOf(pg, "select 1")).toBe(1);
  await pg.end();
  const connection = await connectMysql(mysql);
  expect(await firstOfMysql(connection, "select 1")).toBe(1);
  await connection.end();
  expect(await publish(websockets.server, websockets.main, EVENT)).toBe(200);
}

/** A killed server's successor refuses connections for a moment; its status may still be the one from before. */
function isPublished(): Promise<boolean> {
  return publish(websockets.server, websockets.main, EVENT).then(
    (status) => status === 200,
    () => false,
  );
}

/** The sockets that a process has open. */
function socketsOf(pid: number): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return links.filter((link) => link.startsWith("socket:"));
}

test("addresses stay taken and refuse no client when host and gateway are killed at the same instant", async () => {
  const ports = [
    portOf(sleeper),
    portOf(direct),
    portOf(postgres),
    portOf(mysql),
    websockets.server.meta.port,
  ];
  const thief = await thiefAt(...ports);
  const clients = ports.map(knock);
  for (let round = 0; round < ROUNDS; round++) {
    expect((await requestSuspend(pilvi, `/caches/${sleeper.id}`)).status).toBe(200);
    await killHostAndGateway();
    await thief.round();
    expect([...thief.loot]).toEqual([]);
  }
  await expectAllServed();
  for (const client of clients) client.isOver = true;
  expect(clients.map(({ refused }) => refused)).toEqual(clients.map(() => 0));
  expect(clients.every(({ connected }) => connected > 0)).toBe(true);
});

test("the address of a WebSocket cluster stays taken when its server is killed, with the host or without", async () => {
  const thief = await thiefAt(websockets.server.meta.port);
  for (let round = 0; round < ROUNDS; round++) {
    const [server = 0] = pilvi.enginePids(websockets.id);
    if (round % 2 === 0) await killHostAndGateway(server);
    else killIfThere(server);
    await until("another server runs", () => pilvi.enginePids(websockets.id).some((pid) => pid !== server));
    await until("it serves", isPublished);
    await thief.round();
    expect([...thief.loot]).toEqual([]);
  }
  await pilvi.untilReady();
  await expectAllServed();
});

test("the address of a directly exposed cache stays taken when its engine is killed with host and gateway", async () => {
  const thief = await thiefAt(portOf(direct));
  for (let round = 0; round < ROUNDS; round++) {
    const [engine = 0] = pilvi.enginePids(direct.id);
    if (round % 2 === 0) await killHostAndGateway(engine);
    else killIfThere(engine);
    await until("another engine runs", () => pilvi.enginePids(direct.id).some((pid) => pid !== engine));
    expect(await ping(direct)).toBe("PONG");
    await thief.round();
  }
  const guard = guardBinding(freePort(), 0);
  guard?.close();
  // Without the right to have the kernel refuse others, the address can be reused while such an engine starts.
  expect([...thief.loot].filter((way) => guard !== null || !REUSED.test(way))).toEqual([]);
});

test("a host that is killed between binding an address and handing it to the keeper leaves a usable instance", async () => {
  points.arm("host.address.bound");
  const { status, body } = await pilvi.api<CacheDocument>(
    "POST",
    "/caches",
    cacheBody({ uses_hibernation: true }),
  );
  expect(status).toBe(201);
  const stopped = await points.reached();
  killIfThere(stopped);
  points.release();
  const cache = await pilvi.untilStatus(body.data.id, "available");
  await pilvi.untilReady();
  expect(await ping(cache)).toBe("PONG");
  await killHostAndGateway();
  expect(await ping(cache)).toBe("PONG");
  await pilvi.deleteCache(cache.id);
});

test("the keeper gives up the address of a removed instance, and no engine inherits its sockets", async () => {
  const [kept, ...others] = await Promise.all(
    [true, true, false].map((uses_hibernation) => pilvi.createCache({ uses_hibernation })),
  );
  const before = socketsOf(pilvi.pid).length;
  const thief = await thiefAt(
    ...[kept, ...others].flatMap((cache) => (cache === undefined ? [] : [portOf(cache)])),
  );
  await killHostAndGateway();
  // The keeper closes its connections with the former host and gateway a moment after their end.
  await until("the keeper has as many sockets as before", () => socketsOf(pilvi.pid).length === before);
  const keepers = new Set(socketsOf(pilvi.pid));
  const engines = [direct.id, websockets.id, postgres.id].flatMap((id) => pilvi.enginePids(id));
  expect(engines.flatMap(socketsOf).filter((socket) => keepers.has(socket))).toEqual([]);
  for (const { id } of others) await pilvi.deleteCache(id);
  await until("the keeper has given them up", () => socketsOf(pilvi.pid).length === before - others.length);
  // The thief shows that it would have noticed a free address.
  await until("the thief has both", () =>
    others.every((cache) => [...thief.loot].some((way) => way.startsWith(`${portOf(cache)} `))),
  );
  expect(kept === undefined || [...thief.loot].some((way) => way.startsWith(`${portOf(kept)} `))).toBe(false);
});

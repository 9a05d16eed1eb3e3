// WebSocket clusters as hogs: the memory that their clients make the server keep stays within its limit, and no
// neighbour notices.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { findCgroups } from "../../src/host/os/cgroup-backends.ts";
import { startDatabases } from "../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { messageOf, RawWebSocket } from "../support/wire/raw-websocket.ts";
import { limitFurtherMemory, memoryOf, Victims } from "../support/load/victims.ts";
import {
  createServer,
  deleteServer,
  publish,
  RawSocket,
  type TestServer,
} from "../support/pilvi/websockets.ts";
import hogs from "./data/hogs.json";

const IS_ROOT = process.getuid?.() === 0;
const PATIENCE_MS = 90_000;
/** Less than long names of channels take. */
const LITTLE_BYTES = 4 * 1024 ** 2;
const LONG_NAMES = { sockets: 60, channels: 500, nameLength: 190 };

let pilvi: TestPilvi;
let victims: Victims;

/** The hog has not reached its limit, and neither cluster has ended. */
async function expectHeldWithin(hog: TestServer): Promise<void> {
  expect(memoryOf(hog.id)).toBeLessThan(hog.server.meta.limits?.total_memory_bytes ?? 0);
  expect(await publish(hog.server, hog.main, { channel: "other", name: "sent", data: "{}" })).toBe(200);
}

describe.skipIf(!IS_ROOT || findCgroups("/") === null)("a WebSocket cluster", () => {
  beforeAll(async () => {
    pilvi = await startDatabases();
    victims = await Victims.make(pilvi);
  }, PATIENCE_MS);
  afterAll(() => pilvi.close());
  beforeEach(() => victims.remember());

  test.each(hogs.websockets)("holds $name", async ({ sockets, channels, nameLength }) => {
    const hog = await createServer(pilvi, { name: "hog", max_connections: 100 });
    const clients = await Promise.all(
      Array.from({ length: sockets }, () => new RawSocket(hog.server, hog.main).connected()),
    );
    for (const [index, client] of clients.entries()) {
      const names = Array.from({ length: channels }, (_, n) => `${index}-${n}-`.padEnd(nameLength, "x"));
      await client.subscribeAll(names);
    }
    await expectHeldWithin(hog);
    await victims.expectUnharmed();
    for (const client of clients) client.close();
    await deleteServer(pilvi, hog.id);
  });

  test.each(hogs.members)("holds $name", async ({ sockets, channels, isShared, infoBytes }) => {
    const hog = await createServer(pilvi, { name: "hog", max_connections: 100 });
    const clients = await Promise.all(
      Array.from({ length: sockets }, () => new RawSocket(hog.server, hog.main).connected()),
    );
    for (const [index, client] of clients.entries()) {
      const names = Array.from({ length: channels }, (_, n) => `presence-${isShared ? "" : `${index}-`}${n}`);
      const info = `${index} `.padEnd(infoBytes, "x");
      await client.enterAll(hog.main, names, { user_id: `member-${index}`, user_info: info });
    }
    await expectHeldWithin(hog);
    await victims.expectUnharmed();
    for (const client of clients) client.close();
    await deleteServer(pilvi, hog.id);
  });

  test.each(hogs.slowReaders)("holds $name", async ({ sockets, events, bytes }) => {
    const hog = await createServer(pilvi, { name: "hog", max_connections: 100 });
    const path = `/app/${hog.main.attributes.key}?protocol=7`;
    const more = messageOf("pusher:subscribe", { channel: "news" });
    const readers = await Promise.all(
      Array.from({ length: sockets }, () => RawWebSocket.connect(hog.server.meta.port ?? 0, { path })),
    );
    for (const reader of readers) reader.socket.write(more);
    await until("all are subscribed", () => readers.every((reader) => reader.frames.length >= 2));
    for (const { socket } of readers) socket.pause();
    const event = { channel: "news", name: "sent", data: "x".repeat(bytes) };
    for (let count = 0; count < events; count++) {
      expect(await publish(hog.server, hog.main, event)).toBe(200);
    }
    await expectHeldWithin(hog);
    await victims.expectUnharmed();
    for (const { socket } of readers) socket.resume();
    // A client that has missed so much is disconnected, and no other reason has ended the server.
    await until("all are sent away", () => readers.every(({ isEnded }) => isEnded));
    for (const { socket } of readers) socket.destroy();
    await deleteServer(pilvi, hog.id);
  });

  test("that takes more memory than its limit ends alone, and its owner reads why", async () => {
    const hog = await createServer(pilvi, { name: "hog", max_connections: 100 });
    const [pid] = pilvi.enginePids(hog.id);
    // No client has found a way to the usual limit.
    limitFurtherMemory(hog.id, LITTLE_BYTES);
    const { channels, nameLength, sockets } = LONG_NAMES;
    const clients = await Promise.all(
      Array.from({ length: sockets }, () => new RawSocket(hog.server, hog.main).connected()),
    );
    const fill = async (client: RawSocket, index: number) => {
      const names = Array.from({ length: channels }, (_, n) => `${index}-${n}-`.padEnd(nameLength, "x"));
      await client.subscribeAll(names);
    };
    void Promise.all(clients.map(fill)).catch(() => undefined);
    await until(
      "it has ended, and serves again",
      () => ![pid, undefined].includes(pilvi.enginePids(hog.id)[0]),
    );
    await until("its owner reads why", async () => (await lastErrorOf(hog)).startsWith("Out of memory at "));
    await victims.expectUnharmed();
    for (const client of clients) client.close();
    await deleteServer(pilvi, hog.id);
  });
});

async function lastErrorOf({ id }: TestServer): Promise<string> {
  interface Answer {
    data: { meta: { last_error: string | null } };
  }
  const { body } = await pilvi.api<Answer>("GET", `/websocket-servers/${id}`);
  return body.data.meta.last_error ?? "";
}

// Clients that stall or die, limits under a burst, changes while clients are connected, and the end of the server.
import { afterEach, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/pilvi/pilvi.ts";
import { handshakeOf, messageOf, RawWebSocket, type RawOptions } from "../support/wire/raw-websocket.ts";
import { APP, application, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const MIB = 1024 ** 2;
const EVENTS_PER_BATCH = 10;
const EVENT_BYTES = 10_000;

const clients: RawWebSocket[] = [];
let realtime: TestRealtime | undefined;

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await realtime?.close();
});

async function start(...overrides: Parameters<typeof startRealtime>): Promise<TestRealtime> {
  realtime = await startRealtime(...overrides);
  return realtime;
}

async function greeted({ port }: TestRealtime, options: RawOptions = {}): Promise<RawWebSocket> {
  const client = await RawWebSocket.greeted(port, options);
  clients.push(client);
  return client;
}

async function subscribed(server: TestRealtime, channel: string): Promise<RawWebSocket> {
  const client = await greeted(server);
  await client.subscribe(channel);
  return client;
}

/**
 * Publishes batches until each subscriber was sent so many bytes, or until the condition holds.
 * @returns the number of events.
 */
async function publish(
  server: TestRealtime,
  channel: string,
  bytes: number,
  isEnough: () => Promise<boolean> = () => Promise.resolve(false),
): Promise<number> {
  const pusher = server.pusher();
  const event = { channel, name: "event", data: "x".repeat(EVENT_BYTES) };
  const batch = Array.from({ length: EVENTS_PER_BATCH }, () => event);
  let count = 0;
  while (count * EVENT_BYTES < bytes && !(await isEnough())) {
    await pusher.triggerBatch(batch);
    count += EVENTS_PER_BATCH;
  }
  return count;
}

const eventsOf = (client: RawWebSocket) => client.events.filter(({ event }) => event === "event").length;

async function slowConsumersOf(server: TestRealtime): Promise<number> {
  return (await server.stats()).applications[0]?.slowConsumers ?? 0;
}

/** Has stalled clients read to their end. The server ends a connection some seconds after its close, even unread. */
async function expectClosed(stalled: RawWebSocket[], count: number): Promise<void> {
  for (const { socket } of stalled) socket.resume();
  for (const client of stalled) {
    const code = await client.closed();
    if (code === null) continue;
    expect(code).toBe(4100);
    expect(eventsOf(client)).toBeWithin(1, count + 1);
  }
}

/** One more subscriber, which does not read until it is closed. */
async function stallUntilClosed(server: TestRealtime, channel: string): Promise<RawWebSocket> {
  const before = await slowConsumersOf(server);
  const client = await subscribed(server, channel);
  client.socket.pause();
  const count = await publish(
    server,
    channel,
    100 * MIB,
    async () => (await slowConsumersOf(server)) > before,
  );
  await expectClosed([client], count);
  return client;
}

/** How a page of the origin connects. */
function page(origin: string): RawOptions {
  return { headers: { Origin: origin } };
}

test("clients that do not read are closed with 4100 and counted; others get everything in time", async () => {
  const server = await start();
  const readers = await Promise.all(Array.from({ length: 5 }, () => subscribed(server, "news")));
  const stalled = await Promise.all(Array.from({ length: 5 }, () => subscribed(server, "news")));
  for (const { socket } of stalled) socket.pause();
  const before = server.residentBytes();

  const count = await publish(server, "news", 100 * MIB, async () => (await slowConsumersOf(server)) === 5);
  await expectClosed(stalled, count);
  await until("all others have everything", () => readers.every((each) => eventsOf(each) === count));
  expect(await slowConsumersOf(server)).toBe(5);
  expect((await server.stats()).connections).toBe(5);
  // Five times 1 MiB, and garbage that is not collected yet. What clients do not read would be up to 500 MiB.
  expect(server.residentBytes() - before).toBeLessThan(150 * MIB);
  await until("a client has read why it was closed", async () => {
    if (stalled.some(({ closeCode }) => closeCode === 4100)) return true;
    stalled.push(await stallUntilClosed(server, "news"));
    return false;
  });
  expect(await slowConsumersOf(server)).toBe(stalled.length);
});

test("clients that ask for the same event again and again and do not read it are gone, and others are served", async () => {
  const server = await start();
  const other = await greeted(server);
  await server.pusher().trigger("cache-news", "event", "x".repeat(EVENT_BYTES));
  const [subscribing, leaving] = ["pusher:subscribe", "pusher:unsubscribe"].map((event) =>
    messageOf(event, { channel: "cache-news" }),
  ) as [Buffer, Buffer];
  const flood = Buffer.concat(Array.from({ length: 4_000 }, () => [subscribing, leaving]).flat());
  const greedy = await Promise.all(Array.from({ length: 10 }, () => greeted(server)));
  for (const client of greedy) {
    client.socket.pause();
    client.write(flood);
  }
  await until("they are closed", async () => (await server.stats()).slowConsumers === greedy.length);
  expect((await server.stats()).connections).toBe(1);
  expect(await other.isServed()).toBeTrue();
  expect(server.log).not.toContain('"level":"error"');
});

test("a burst of clients gets exactly the free places", async () => {
  const server = await start({ maxConnections: 50 });
  const burst = Array.from({ length: 200 }, () => new RawWebSocket(server.port));
  clients.push(...burst);
  for (const client of burst) client.write(handshakeOf());
  await until("all are answered", () => burst.every(({ frames }) => frames.length > 0));
  await until("the others are closed", () => burst.filter(({ isEnded }) => isEnded).length === 150);
  expect(burst.filter(({ closeCode }) => closeCode === 4004)).toHaveLength(150);
  expect((await server.stats()).connections).toBe(50);
  burst.find(({ isEnded }) => !isEnded)?.destroy();
  await until("a place is free", async () => (await server.stats()).connections === 49);
  await greeted(server);
});

test("a change reaches open connections, and only those it affects", async () => {
  const server = await start();
  const other = application({ id: "other", appId: "1002", key: "other-key" });
  const configure = (overrides: Parameters<typeof application>[0], ...more: (typeof other)[]) =>
    server.configureAll({ maxConnections: 100, applications: [application(overrides), ...more] });

  await configure({}, other);
  const home = await greeted(server, page("https://example.com"));
  const away = await greeted(server, page("https://example.org"));
  const elsewhere = await greeted(server, { path: "/app/other-key?protocol=7" });

  await configure({ allowedOrigins: ["https://example.com"] }, other);
  expect(await away.closed()).toBe(4009);
  expect(await home.isServed()).toBeTrue();
  await configure({ allowedOrigins: ["https://example.com"] });
  expect(await elsewhere.closed()).toBe(4001);
  expect(await home.isServed()).toBeTrue();

  await configure({ secrets: [{ secret: "new", expiresAt: null }] });
  const refused = await server
    .pusher()
    .trigger("news", "event", "x")
    .catch((error: { status: number }) => error);
  expect(refused.status).toBe(401);
  await server.pusher({ secret: "new" }).trigger("news", "event", "x");

  await configure({ maxMessageBytes: 1_000, secrets: [{ secret: APP.secret, expiresAt: null }] });
  home.write(messageOf("pusher:ping", "x".repeat(2_000)));
  expect(await home.closed()).toBe(1009);
});

test("waiting webhooks of an application that was removed while no server ran are deleted", async () => {
  const server = await start();
  await server.stop();
  const left = join(server.folder, "data/webhooks-removed");
  writeFileSync(left, "waits");
  await server.start();
  await server.configure();
  expect(existsSync(left)).toBeFalse();
});

test("a stopping server closes all clients with 4200, spread over time, and serves the remaining ones", async () => {
  const server = await start();
  const all = await Promise.all(Array.from({ length: 300 }, () => greeted(server)));
  await Promise.all(all.map((client, index) => joinRoom(server, client, `user-${index % 50}`)));
  expect(await server.stop()).toBe(0);
  await until("all are closed", () => all.every(({ isEnded }) => isEnded));
  expect(new Set(all.map(({ closeCode }) => closeCode))).toEqual(new Set([4200]));
  // The last events about clients closed before, whose users had no connection left.
  const removed = all.map(
    ({ events }) => events.filter(({ event }) => event.endsWith("member_removed")).length,
  );
  expect(Math.max(...removed)).toBeGreaterThan(10);
  expect(server.log).not.toContain('"level":"error"');
});

async function joinRoom(server: TestRealtime, client: RawWebSocket, userId: string): Promise<void> {
  const channel = "presence-room";
  const signed = server.pusher().authorizeChannel(client.socketId, channel, { user_id: userId });
  client.write(messageOf("pusher:subscribe", { channel, ...signed }));
  await client.event("pusher_internal:subscription_succeeded");
}

// What a realtime server reports of a watched application, while official clients use it.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type Pusher from "pusher-js";
import {
  DEBUG_EVENTS_PER_SECOND,
  MAX_DEBUG_DATA_LENGTH,
  type DebugEvent,
} from "../../src/contracts/realtime-debug.ts";
import { AuthServer, inState, pusherClient, subscribed } from "../support/clients/pusher-clients.ts";
import { application, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";
import { until } from "../support/pilvi/pilvi.ts";

let realtime: TestRealtime;
let auth: AuthServer;
const clients: Pusher[] = [];
const ends: AbortController[] = [];
let webhookStatus = 200;
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("", { status: webhookStatus }),
});

beforeAll(async () => {
  realtime = await startRealtime({ webhooks: webhooksTo(receiver.port) });
  auth = new AuthServer(realtime.pusher());
});

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const end of ends.splice(0)) end.abort();
});

afterAll(async () => {
  await auth.close();
  await receiver.stop(true);
  await realtime.close();
});

function webhooksTo(port: number | undefined) {
  const url = `http://127.0.0.1:${port}/hooks?token=secret`;
  return [{ url, eventTypes: ["channel_occupied" as const], isBatched: false }];
}

/** Watches an application. @returns the reports so far, to which more are added, and whether they have ended. */
async function watch(id = "app"): Promise<{ reports: DebugEvent[]; isOver: boolean; end: AbortController }> {
  const watching = { reports: [] as DebugEvent[], isOver: false, end: new AbortController() };
  ends.push(watching.end);
  const read = async () => {
    for await (const report of realtime.debug(id, watching.end.signal)) watching.reports.push(report);
  };
  void read()
    .catch(() => undefined)
    .then(() => (watching.isOver = true));
  await until("the reports have begun", () => watching.reports.length > 0);
  return watching;
}

async function connected(id: string): Promise<Pusher> {
  const client = pusherClient(realtime.port, auth.options({ id }));
  clients.push(client);
  await inState(client, "connected");
  return client;
}

const typesOf = (reports: DebugEvent[]) => reports.map(({ type }) => type);

test("connections, subscriptions, members, events and webhooks are reported as they happen", async () => {
  const { reports } = await watch();
  const [one, two] = [await connected("1"), await connected("2")];
  const channel = await subscribed(one.subscribe("presence-room"));
  await subscribed(two.subscribe("presence-room"));
  channel.trigger("client-typing", { at: 3 });
  await until("the client event was reported", () => typesOf(reports).includes("clientEvent"));
  await realtime.pusher().trigger("presence-room", "hello", { text: "moi" });
  two.unsubscribe("presence-room");
  const lastId = one.connection.socket_id;
  await until("the unsubscription was reported", () => typesOf(reports).includes("memberRemoved"));
  one.disconnect();
  await until("all was reported", () => {
    const types = typesOf(reports);
    return types.includes("channelVacated") && types.includes("webhookSent");
  });
  const common = { at: expect.any(String), channel: "presence-room" };
  const [socketId, otherId] = reports.flatMap((each) => (each.type === "connected" ? [each.socketId] : []));
  expect(socketId).toBe(lastId);
  expect(reports.filter(({ type }) => type !== "webhookSent")).toEqual([
    { type: "watching", at: expect.any(String) },
    { type: "connected", at: expect.any(String), socketId, origin: null },
    { type: "connected", at: expect.any(String), socketId: otherId, origin: null },
    { type: "channelOccupied", ...common },
    { type: "memberAdded", ...common, userId: "1" },
    { type: "subscribed", ...common, socketId, userId: "1", subscriptions: 1 },
    { type: "memberAdded", ...common, userId: "2" },
    { type: "subscribed", ...common, socketId: otherId, userId: "2", subscriptions: 2 },
    {
      type: "clientEvent",
      ...common,
      socketId,
      userId: "1",
      event: "client-typing",
      data: '{"at":3}',
      dataBytes: 8,
    },
    {
      type: "published",
      ...common,
      event: "hello",
      data: '{"text":"moi"}',
      dataBytes: 14,
      subscriptions: 2,
    },
    { type: "unsubscribed", ...common, socketId: otherId, subscriptions: 1 },
    { type: "memberRemoved", ...common, userId: "2" },
    { type: "disconnected", at: expect.any(String), socketId, subscriptions: 1 },
    { type: "memberRemoved", ...common, userId: "1" },
    { type: "channelVacated", ...common },
  ] as DebugEvent[]);
  expect(reports.find(({ type }) => type === "webhookSent")).toEqual({
    type: "webhookSent",
    at: expect.any(String),
    host: `127.0.0.1:${receiver.port}`,
    events: 1,
  });
});

test("a failed webhook, a refused subscription and a refused client are reported with the reason", async () => {
  webhookStatus = 500;
  const { reports } = await watch();
  const client = await connected("1");
  client.subscribe("forbidden channel");
  client.subscribe("news");
  await until("the webhook failed", () => typesOf(reports).includes("webhookFailed"));
  webhookStatus = 200;
  expect(reports.find(({ type }) => type === "webhookFailed")).toMatchObject({
    host: `127.0.0.1:${receiver.port}`,
    events: 1,
    reason: "HTTP 500",
  });
  await realtime.configure({ webhooks: [], maxConnections: 1 });
  const second = pusherClient(realtime.port);
  clients.push(second);
  await until("both were refused", () => typesOf(reports).filter((type) => type === "refused").length === 2);
  expect(reports.filter(({ type }) => type === "refused")).toMatchObject([
    { socketId: client.connection.socket_id, channel: "forbidden channel", reason: "Invalid channel name" },
    { socketId: null, channel: null, code: 4004, reason: "Over connection quota" },
  ]);
  await realtime.configure({ webhooks: webhooksTo(receiver.port) });
});

test("only the beginning of large data is reported, with its whole size", async () => {
  const { reports } = await watch();
  const data = "ä".repeat(4_000);
  await realtime.pusher().trigger("news", "large", data);
  await until("it was reported", () => typesOf(reports).includes("published"));
  const report = reports.find(({ type }) => type === "published");
  expect(report).toMatchObject({ dataBytes: 8_000, data: data.slice(0, MAX_DEBUG_DATA_LENGTH) });
});

test("a flood is reported in part, the rest is counted, and nothing is missing", async () => {
  const { reports } = await watch();
  const published = 20 * DEBUG_EVENTS_PER_SECOND;
  const batch = Array.from({ length: 10 }, () => ({ channel: "news", name: "flood", data: "{}" }));
  const batches = Array.from({ length: published / 10 }, () => realtime.pusher().triggerBatch(batch));
  await Promise.all(batches);
  const counted = () =>
    reports.reduce((sum, each) => {
      if (each.type === "published") return sum + 1;
      return each.type === "omitted" ? sum + each.count : sum;
    }, 0);
  await until("all was counted", () => counted() === published);
  expect(typesOf(reports)).toContain("omitted");
});

const OTHER = application({ id: "other", appId: "1002", key: "other" });

test("a watcher gets the reports of its application alone, which end with the application", async () => {
  await realtime.configureAll({ maxConnections: 100, applications: [application(), OTHER] });
  const other = await watch("other");
  await realtime.pusher().trigger("news", "hello", "{}");
  await realtime.pusher({ appId: "1002", key: "other" }).trigger("news", "mine", "{}");
  await until("the event was reported", () => other.reports.length === 2);
  expect(other.reports[1]).toMatchObject({ type: "published", event: "mine" });
  await realtime.configureAll({ maxConnections: 100, applications: [application()] });
  await until("the reports have ended", () => other.isOver);
});

test("an application takes a bounded number of watchers, and each gives its place back", async () => {
  const watching = [];
  for (let count = 0; count < 8; count += 1) watching.push(await watch());
  await expect(realtime.debug("app", AbortSignal.timeout(5_000)).next()).rejects.toThrow();
  for (const { end } of watching) end.abort();
  await until("there is room again", async () => {
    const end = new AbortController();
    const isOpen = await realtime
      .debug("app", end.signal)
      .next()
      .then(
        () => true,
        () => false,
      );
    end.abort();
    return isOpen;
  });
});

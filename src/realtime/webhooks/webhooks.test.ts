// The requests to a customer's server: batches, filters, signatures, and departures that were only reconnects.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Webhook, WebhookEventType } from "../../contracts/websocket-application.ts";
import { HookServer, SECRET, signatureOf, startWebhooks, temporaryFolder } from "./test-support.ts";

const server = new HookServer();
const folder = temporaryFolder();
const ALL: WebhookEventType[] = [
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
  "subscription_count",
];
let spools = 0;

beforeAll(() => server.listen());
beforeEach(() => server.received.splice(0));
afterAll(async () => {
  await server.close();
  folder.remove();
});

function start(...configs: (Partial<Webhook> & { path?: string })[]) {
  const made = startWebhooks({ spoolFile: folder.path(`spool-${(spools += 1)}`) });
  made.webhooks.configure(configs.map((each) => webhook(each)));
  return made;
}

function webhook({ path, ...config }: Partial<Webhook> & { path?: string } = {}): Webhook {
  return { url: server.url(path), eventTypes: ALL, isBatched: true, ...config };
}

test("all events have the bodies of Pusher, in one signed request", async () => {
  const { webhooks, clock } = start({});
  webhooks.channelOccupied("presence-a");
  webhooks.memberAdded("presence-a", "7");
  webhooks.clientEvent({
    channel: "presence-a",
    event: "client-x",
    data: '{"é":1}',
    socketId: "1.2",
    userId: "7",
  });
  webhooks.clientEvent({ channel: "private-a", event: "client-x", data: "text", socketId: "1.2" });
  webhooks.cacheMiss("cache-a");
  webhooks.subscriptionCount("a", 101, 100);
  clock.advance(50);
  const [request] = await server.until(1);
  expect(JSON.parse(request?.body ?? "")).toEqual({
    time_ms: clock.wallMs(),
    events: [
      { name: "channel_occupied", channel: "presence-a" },
      { name: "member_added", channel: "presence-a", user_id: "7" },
      {
        name: "client_event",
        channel: "presence-a",
        event: "client-x",
        data: '{"é":1}',
        socket_id: "1.2",
        user_id: "7",
      },
      { name: "client_event", channel: "private-a", event: "client-x", data: "text", socket_id: "1.2" },
      { name: "cache_miss", channel: "cache-a" },
      { name: "subscription_count", channel: "a", subscription_count: 101 },
    ],
  });
  expect(request?.headers).toMatchObject({
    "content-type": "application/json",
    "x-pusher-key": "the key",
    "x-pusher-signature": signatureOf(request?.body ?? "", SECRET),
  });
  await webhooks.close();
  expect(webhooks.counters).toEqual({ delivered: 1, failed: 0, dropped: 0 });
});

test("a webhook without batches gets each event in a request of its own, at once and in order", async () => {
  const { webhooks } = start({ isBatched: false });
  webhooks.channelOccupied("presence-a");
  webhooks.memberAdded("presence-a", "7");
  webhooks.memberAdded("presence-a", "8");
  await server.until(3);
  await webhooks.close();
  expect(server.received.map(({ events }) => events)).toEqual([
    [{ name: "channel_occupied", channel: "presence-a" }],
    [{ name: "member_added", channel: "presence-a", user_id: "7" }],
    [{ name: "member_added", channel: "presence-a", user_id: "8" }],
  ]);
});

test("each webhook gets only its own types and channels", async () => {
  const { webhooks, clock } = start(
    { path: "/types", eventTypes: ["cache_miss"] },
    { path: "/begins", filter: { channelNameStartsWith: "private-" } },
    { path: "/ends", filter: { channelNameEndsWith: "-orders" } },
    { path: "/both", filter: { channelNameStartsWith: "private-", channelNameEndsWith: "-orders" } },
    { path: "/nothing", filter: { channelNameStartsWith: "elsewhere" } },
  );
  for (const channel of ["private-a", "a-orders", "private-a-orders"]) webhooks.channelOccupied(channel);
  webhooks.cacheMiss("cache-a");
  clock.advance(50);
  await server.until(4);
  await webhooks.close();
  const channels = (path: string) =>
    server.at(path).flatMap(({ events }) => events.map((each) => each.channel));
  expect(channels("/types")).toEqual(["cache-a"]);
  expect(channels("/begins")).toEqual(["private-a", "private-a-orders"]);
  expect(channels("/ends")).toEqual(["a-orders", "private-a-orders"]);
  expect(channels("/both")).toEqual(["private-a-orders"]);
  expect(channels("/nothing")).toEqual([]);
});

test("a batch has 100 events at most, and 256 KB", async () => {
  const { webhooks, clock } = start({});
  for (let count = 0; count < 250; count += 1) webhooks.cacheMiss(`cache-${count}`);
  const data = "x".repeat(100_000);
  for (let count = 0; count < 3; count += 1) {
    webhooks.clientEvent({ channel: "private-a", event: "client-x", data, socketId: "1.2" });
  }
  clock.advance(50);
  await server.until(4);
  await webhooks.close();
  expect(server.received.map(({ events }) => events.length)).toEqual([100, 100, 52, 1]);
  const misses = server.received.flatMap(({ events }) => events).slice(0, 250);
  expect(misses.map((each) => each.channel)).toEqual(
    Array.from({ length: 250 }, (_, index) => `cache-${index}`),
  );
});

test("later events are later requests, on the same connection", async () => {
  const { webhooks, clock } = start({});
  for (let count = 1; count <= 3; count += 1) {
    webhooks.cacheMiss(`cache-${count}`);
    clock.advance(50);
    await server.until(count);
  }
  await webhooks.close();
  expect(new Set(server.received.map(({ port }) => port)).size).toBe(1);
});

test("an unwanted event sends nothing and starts no timer", async () => {
  const { webhooks, clock } = start({ eventTypes: ["client_event"] });
  webhooks.channelOccupied("a");
  webhooks.channelVacated("a");
  webhooks.memberAdded("presence-a", "1");
  webhooks.memberRemoved("presence-a", "1");
  webhooks.cacheMiss("a");
  webhooks.subscriptionCount("a", 1, 0);
  webhooks.subscriptionCount("a", 0, 1);
  expect(clock.pendingMs).toEqual([]);
  await webhooks.close();
});

test("a departure of less than 3 s is not reported, and neither is the return", async () => {
  const { webhooks, clock } = start({});
  webhooks.memberRemoved("presence-a", "1");
  webhooks.memberRemoved("presence-a", "2");
  webhooks.channelVacated("presence-a");
  clock.advance(2999);
  webhooks.channelOccupied("presence-a");
  webhooks.memberAdded("presence-a", "1");
  clock.advance(51);
  const [request] = await server.until(1);
  expect(request?.events).toEqual([{ name: "member_removed", channel: "presence-a", user_id: "2" }]);
  webhooks.channelVacated("presence-a");
  clock.advance(2950);
  expect(clock.pendingMs.length).toBeGreaterThan(0);
  clock.advance(100);
  const [, second] = await server.until(2);
  expect(second?.events).toEqual([{ name: "channel_vacated", channel: "presence-a" }]);
  webhooks.channelOccupied("presence-a");
  clock.advance(50);
  const [, , third] = await server.until(3);
  expect(third?.events).toEqual([{ name: "channel_occupied", channel: "presence-a" }]);
  await webhooks.close();
});

test("a count of 0 is held back for 3 s, and the former count is not sent again on a return within the time", async () => {
  const { webhooks, clock } = start({ eventTypes: ["subscription_count"] });
  webhooks.subscriptionCount("a", 1, 0);
  for (let round = 0; round < 1_000; round += 1) {
    webhooks.subscriptionCount("a", 0, 1);
    clock.advance(2);
    webhooks.subscriptionCount("a", 1, 0);
  }
  // A departure before the last was not reported, so the customer knows another count.
  webhooks.subscriptionCount("b", 0, 3);
  webhooks.subscriptionCount("b", 1, 0);
  webhooks.subscriptionCount("a", 0, 1);
  clock.advance(2999);
  webhooks.cacheMiss("not wanted");
  clock.advance(51);
  await server.until(3);
  await webhooks.close();
  const counts = server.received.flatMap(({ events }) =>
    events.map((each) => [each.channel, each["subscription_count"]]),
  );
  expect(counts).toEqual([
    ["a", 1],
    ["b", 1],
    ["a", 0],
  ]);
});

test("a webhook for arrivals alone gets no reconnects either", async () => {
  const { webhooks, clock } = start({ eventTypes: ["channel_occupied", "cache_miss"] });
  webhooks.channelVacated("a");
  webhooks.channelOccupied("a");
  webhooks.cacheMiss("a");
  clock.advance(5000);
  const [request] = await server.until(1);
  expect(request?.events).toEqual([{ name: "cache_miss", channel: "a" }]);
  await webhooks.close();
});

test("closing reports held departures at once", async () => {
  const { webhooks } = start({});
  webhooks.channelVacated("a");
  webhooks.cacheMiss("b");
  await webhooks.close();
  expect(server.received.flatMap(({ events }) => events.map((each) => each.name))).toEqual([
    "cache_miss",
    "channel_vacated",
  ]);
  webhooks.cacheMiss("c");
  await webhooks.close();
  expect(server.received).toHaveLength(1);
});

test("a change of types and filters concerns later events, and a removed webhook gets nothing more", async () => {
  const { webhooks, clock } = start({ path: "/kept" }, { path: "/removed" });
  webhooks.cacheMiss("one");
  webhooks.configure([webhook({ path: "/kept", eventTypes: ["subscription_count"] })]);
  webhooks.cacheMiss("two");
  webhooks.subscriptionCount("three", 200, 150);
  clock.advance(50);
  const [request] = await server.until(1);
  expect(request?.events.map((each) => each.channel)).toEqual(["one", "three"]);
  await webhooks.close();
  expect(server.at("/removed")).toEqual([]);
});

test("the same URL may occur twice, with different filters", async () => {
  const { webhooks, clock } = start({ eventTypes: ["cache_miss"] }, { eventTypes: ["subscription_count"] });
  webhooks.cacheMiss("a");
  webhooks.subscriptionCount("a", 200, 150);
  clock.advance(50);
  const requests = await server.until(2);
  expect(requests.map(({ events }) => events.map((each) => each.name)).sort()).toEqual([
    ["cache_miss"],
    ["subscription_count"],
  ]);
  await webhooks.close();
});

// Events of an application: which clients get them, what cache channels remember, and how counts are sent.
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { CACHE_TTL_SECONDS, SMALL_COUNT_INTERVAL_MS } from "./protocol/limits.ts";
import { LastEvents } from "./last-events.ts";
import { ReportedMisses } from "./reported-misses.ts";
import { TestCluster, type TestClient } from "./test-support.ts";
import type { Application } from "./application.ts";

const SUCCEEDED = "pusher_internal:subscription_succeeded";
const COUNT = "pusher_internal:subscription_count";

function applicationOf(network: TestCluster): Application {
  const [application] = network.cluster.applications();
  if (application === undefined) throw new Error("there is no application");
  return application;
}

describe("an event of the HTTP API", () => {
  test("reaches all subscribers but the connection that it came from", () => {
    const network = new TestCluster();
    const clients = [network.connected(), network.connected(), network.connected()];
    const [sender, other, elsewhere] = clients as [TestClient, TestClient, TestClient];
    for (const client of [sender, other]) client.says("pusher:subscribe", { channel: "news" });
    for (const client of clients) client.take();
    const application = applicationOf(network);
    application.publish("news", "hello", '{"a":1}', sender.socketId);
    const frame = { event: "hello", channel: "news", data: '{"a":1}' };
    expect([sender.take(), other.take(), elsewhere.take()]).toEqual([[], [frame], []]);
    // An excluded socket that does not subscribe, or does not exist, takes nothing from anybody.
    application.publish("news", "hello", "1", elsewhere.socketId);
    application.publish("news", "hello", "2", "1.1");
    application.publish("nobody-there", "hello", "3");
    expect([sender.take().length, other.take().length, elsewhere.take().length]).toEqual([2, 2, 0]);
  });

  test("is counted, and so are the frames from and to clients", () => {
    const network = new TestCluster();
    const [one, two] = [network.connected(), network.connected()];
    for (const client of [one, two]) client.says("pusher:subscribe", { channel: "news" });
    applicationOf(network).publish("news", "hello", "1");
    applicationOf(network).publish("news", "hello", "1", one.socketId);
    const { received, sent, requests, slowConsumers } = applicationOf(network).counters;
    expect({ received, sent, requests, slowConsumers }).toEqual({
      received: 4,
      sent: 7,
      requests: 0,
      slowConsumers: 0,
    });
    expect([network.cluster.counters.received, network.cluster.counters.sent]).toEqual([4, 7]);
  });
});

describe.each(["cache-a", "private-cache-a", "private-encrypted-cache-a", "presence-cache-a"])(
  "the cache channel %s",
  (channel) => {
    const member = channel.startsWith("presence") ? { user_id: "1" } : undefined;

    test("sends a new subscriber the last event, or a cache miss", () => {
      const network = new TestCluster();
      const [first, second] = [network.connected(), network.connected()];
      first.subscribes(channel, member);
      expect(first.takeNames()).toEqual([SUCCEEDED, "pusher:cache_miss"]);
      expect(network.takeEvents()).toContainEqual(["cache_miss", channel]);
      applicationOf(network).publish(channel, "one", "1");
      applicationOf(network).publish(channel, "two", "2");
      second.subscribes(channel, member);
      expect(second.take().slice(1)).toEqual([{ event: "two", channel, data: "2" }]);
      expect(network.takeEvents()).not.toContainEqual(["cache_miss", channel]);
    });

    test("notifies the application of a cache miss once, until its next event", () => {
      const network = new TestCluster();
      const misses = () => network.takeEvents().filter(([name]) => name === "cache_miss");
      const subscriber = () => {
        const client = network.connected();
        client.subscribes(channel, member);
        return client.takeNames().at(-1);
      };
      expect([subscriber(), subscriber(), subscriber()]).toEqual(Array(3).fill("pusher:cache_miss"));
      expect(misses()).toEqual([["cache_miss", channel]]);
      applicationOf(network).publish(channel, "one", "1");
      jest.setSystemTime(Date.now() + CACHE_TTL_SECONDS * 1_000);
      expect([subscriber(), subscriber()]).toEqual(Array(2).fill("pusher:cache_miss"));
      expect(misses()).toEqual([["cache_miss", channel]]);
    });

    test("notifies the application of a cache miss once, however often the empty channel is entered", () => {
      const network = new TestCluster();
      const misses = () => network.takeEvents().filter(([name]) => name === "cache_miss").length;
      const entered = () => {
        const client = network.connected();
        client.subscribes(channel, member);
        client.disconnects();
        return client.takeNames().at(-1);
      };
      expect([entered(), entered()]).toEqual(Array(2).fill("pusher:cache_miss"));
      expect(misses()).toBe(1);
      applicationOf(network).publish(channel, "one", "1");
      jest.setSystemTime(Date.now() + CACHE_TTL_SECONDS * 1_000);
      expect([entered(), entered()]).toEqual(Array(2).fill("pusher:cache_miss"));
      expect(misses()).toBe(1);
    });

    test("remembers an event that was published without subscribers", () => {
      const network = new TestCluster();
      applicationOf(network).publish(channel, "one", "1");
      expect(applicationOf(network).lastEvent(channel)).toMatchObject({ data: "1", ttlSeconds: 1_800 });
      const client = network.connected();
      client.subscribes(channel, member);
      expect(client.takeNames()).toEqual([SUCCEEDED, "one"]);
    });
  },
);

test.each(["a", "private-a", "my-cache-a", "private-my-cache-a"])("%p remembers nothing", (channel) => {
  const network = new TestCluster();
  applicationOf(network).publish(channel, "one", "1");
  expect(applicationOf(network).lastEvent(channel)).toBeUndefined();
});

describe("last events", () => {
  let now = 0;
  const events = () => new LastEvents(() => now);

  test("are kept for half an hour after the last of them", () => {
    const kept = events();
    kept.set("a", "one", "1");
    now += 60_000;
    expect(kept.get("a")).toEqual({ name: "one", data: "1", ttlSeconds: CACHE_TTL_SECONDS - 60 });
    kept.set("a", "two", "2");
    now += CACHE_TTL_SECONDS * 1_000 - 1;
    expect(kept.get("a")).toEqual({ name: "two", data: "2", ttlSeconds: 1 });
    now += 1;
    expect(kept.get("a")).toBeUndefined();
  });

  test("are bounded; the oldest go first", () => {
    const kept = events();
    const data = "x".repeat(10_000);
    for (let i = 0; i < 2_000; i++) kept.set(`c${i}`, "e", data);
    kept.set("c1999", "e", "new");
    expect(kept.get("c0")).toBeUndefined();
    expect(kept.get("c1999")?.data).toBe("new");
    expect(kept.get("c1500")?.data).toBe(data);
  });
});

describe("reported misses", () => {
  let now = 0;
  const misses = () => new ReportedMisses(() => now);

  test("are reported again after half an hour, and after an event", () => {
    const reported = misses();
    expect([reported.add("a"), reported.add("a"), reported.add("b")]).toEqual([true, false, true]);
    now += CACHE_TTL_SECONDS * 1_000 - 1;
    expect(reported.add("a")).toBe(false);
    now += 1;
    expect([reported.add("a"), reported.add("a")]).toEqual([true, false]);
    reported.delete("a");
    expect(reported.add("a")).toBe(true);
  });

  test("are bounded; the oldest go first", () => {
    const reported = misses();
    for (let i = 0; i <= 100_000; i++) reported.add(`c${i}`);
    expect([reported.add("c1"), reported.add("c100000"), reported.add("c0")]).toEqual([false, false, true]);
  });

  test("are those of an application alone, but bounded for all applications of a cluster together", () => {
    const ids = ["3", "4", "5"];
    const network = new TestCluster(...ids.map((appId) => ({ id: appId, appId, key: appId })));
    const reports = (appId: string, channel: string) => {
      network.cluster.applicationByAppId(appId)?.reportMiss(channel);
      return network.takeEvents().length;
    };
    expect(ids.map((appId) => reports(appId, "cache-a"))).toEqual([1, 1, 1]);
    network.cluster.applicationByAppId("3")?.publish("cache-a", "e", "1");
    expect(ids.map((appId) => reports(appId, "cache-a"))).toEqual([1, 0, 0]);
    for (const appId of ids) for (let i = 0; i < 40_000; i++) reports(appId, `cache-${i}`);
    expect([reports("5", "cache-0"), reports("3", "cache-0")]).toEqual([0, 1]);
  });
});

describe("the count of subscribers", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("is sent on every change of a small channel, and not on presence channels", () => {
    const network = new TestCluster({ subscriptionCountEnabled: true });
    const [one, two] = [network.connected(), network.connected()];
    for (const client of [one, two]) client.says("pusher:subscribe", { channel: "news" });
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    expect(
      one
        .take()
        .slice(1)
        .map(({ data }) => data),
    ).toEqual([{ subscription_count: 1 }, { subscription_count: 2 }]);
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    two.disconnects();
    expect(one.take()).toEqual([{ event: COUNT, channel: "news", data: { subscription_count: 1 } }]);
    one.subscribes("presence-a", { user_id: "1" });
    expect(one.takeNames()).toEqual([SUCCEEDED]);
  });

  test("is sent once for all clients that come at the same time", () => {
    const network = new TestCluster({ subscriptionCountEnabled: true });
    const clients = Array.from({ length: 50 }, () => network.connected());
    for (const client of clients) client.says("pusher:subscribe", { channel: "news" });
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    const counts = clients[0]?.take().filter(({ event }) => event === COUNT);
    expect(counts?.map(({ data }) => data)).toEqual([{ subscription_count: 1 }, { subscription_count: 50 }]);
  });

  test("goes on when the wall clock is set back", () => {
    const network = new TestCluster({ subscriptionCountEnabled: true });
    const [one, two] = [network.connected(), network.connected()];
    one.says("pusher:subscribe", { channel: "news" });
    jest.setSystemTime(Date.now() - 3_600_000);
    two.says("pusher:subscribe", { channel: "news" });
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    expect(one.take().at(-1)?.data).toEqual({ subscription_count: 2 });
  });

  test("of more than 100 is sent at most every 5 s, and then correctly", () => {
    const network = new TestCluster({ subscriptionCountEnabled: true });
    const clients = Array.from({ length: 150 }, () => network.connected());
    for (const client of clients) client.says("pusher:subscribe", { channel: "news" });
    const [first] = clients as [TestClient];
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    expect(first.takeNames().filter((name) => name === COUNT)).toHaveLength(2);
    for (const client of clients.slice(140)) client.disconnects();
    jest.advanceTimersByTime(4_900);
    expect(first.take()).toEqual([]);
    jest.advanceTimersByTime(200);
    expect(first.take().map(({ data }) => data)).toEqual([{ subscription_count: 140 }]);
    for (const client of clients.slice(1, 140)) client.disconnects();
    jest.advanceTimersByTime(5_000);
    expect(first.take().at(-1)?.data).toEqual({ subscription_count: 1 });
    first.disconnects();
    jest.advanceTimersByTime(10_000);
    expect(network.takeEvents().slice(-2)).toEqual([
      ["subscription_count", "news", 0, 1],
      ["channel_vacated", "news"],
    ]);
  });

  test("is given to the application with the count that it was given before", () => {
    const network = new TestCluster();
    const [one, two] = [network.connected(), network.connected()];
    const counts = () => network.takeEvents().filter(([name]) => name === "subscription_count");
    one.says("pusher:subscribe", { channel: "news" });
    two.says("pusher:subscribe", { channel: "news" });
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    expect(counts()).toEqual([
      ["subscription_count", "news", 1, 0],
      ["subscription_count", "news", 2, 1],
    ]);
    // The first departure is not reported before the second.
    one.disconnects();
    two.disconnects();
    expect(counts()).toEqual([["subscription_count", "news", 0, 2]]);
  });

  test("of a presence channel is not sent, even when the last subscriber leaves", () => {
    const network = new TestCluster({ subscriptionCountEnabled: true });
    const client = network.connected();
    client.subscribes("presence-a", { user_id: 1 });
    client.disconnects();
    const names = network.takeEvents().map(([name]) => name);
    expect(names).toEqual(["channel_occupied", "member_added", "member_removed", "channel_vacated"]);
  });
});

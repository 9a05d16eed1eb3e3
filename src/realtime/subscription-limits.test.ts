// How often clients may subscribe: alone, and together on a channel whose others are notified of each member.
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import type { Channel } from "./channel.ts";
import { channelKindOf, type ChannelKind } from "./protocol/channel-name.ts";
import { MAX_CHANNELS, MAX_SUBSCRIPTIONS } from "./protocol/limits.ts";
import { applicationConfig, TestCluster, type Frame, type TestClient } from "./test-support.ts";

const SUCCEEDED = "pusher_internal:subscription_succeeded";
const FAILED = "pusher:subscription_error";
const REFUSAL = { event: FAILED, data: { type: "LimitReached" } };
const ROOM = "presence-room";

/** Leaves and enters until an entry is refused. @returns how many entries there were. */
function entries(client: TestClient): number {
  for (let count = 0; count < 5_000; count += 1) {
    client.subscribes(ROOM, { user_id: "me" });
    if (client.take().some(({ event }) => event === FAILED)) return count;
    client.says("pusher:unsubscribe", { channel: ROOM });
  }
  return 5_000;
}

/** Enters and leaves once. @returns the first frame of the answer. */
function enter(client: TestClient, id: number): string | undefined {
  client.subscribes(ROOM, { user_id: String(id), user_info: "x".repeat(1_000) });
  client.says("pusher:unsubscribe", { channel: ROOM });
  return client.takeNames()[0];
}

/** Subscribes. @returns the answer. */
function subscribes(client: TestClient, channel: string): Frame[] {
  client.take();
  client.says("pusher:subscribe", { channel });
  return client.take();
}

test("a cluster has a bounded number of channels, which follows its connections", () => {
  const network = new TestCluster();
  const applications = ["one", "other"].map((id) => applicationConfig({ id, appId: id, key: id }));
  network.cluster.configure({ maxConnections: 300, applications });
  const fill = (appId: string, count: number) => {
    const application = network.cluster.applicationByAppId(appId);
    for (let i = 0; i < count; i++) application?.occupy(`c${i}`, channelKindOf("c") as ChannelKind);
  };
  const [first, late] = ["one", "other"].map((key) => network.connect({ path: `/app/${key}` })) as [
    TestClient,
    TestClient,
  ];
  fill("one", MAX_CHANNELS - 1);
  expect(subscribes(first, "news")).toMatchObject([{ event: SUCCEEDED }]);
  fill("other", 11_999);
  expect(subscribes(late, "news")).toMatchObject([{ event: SUCCEEDED }]);
  const refusal = { ...REFUSAL, data: { error: "At most 212000 channels a cluster", status: 4004 } };
  expect(subscribes(late, "more")).toMatchObject([refusal]);
  expect(subscribes(late, "c0")).toMatchObject([{ event: SUCCEEDED }]);
  network.cluster.configure({ maxConnections: 300, applications: applications.slice(1) });
  expect(subscribes(late, "more")).toMatchObject([{ event: SUCCEEDED }]);
  expect(subscribes(late, "yet-more")).toMatchObject([refusal]);
});

describe("subscriptions", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("are refused beyond a burst and 20 a second, and the connection stays", () => {
    const client = new TestCluster().connected();
    const most = entries(client);
    expect(most).toBeWithin(MAX_SUBSCRIPTIONS, 2 * MAX_SUBSCRIPTIONS);
    jest.advanceTimersByTime(525);
    expect(entries(client)).toBe(10);
    client.says("pusher:subscribe", { channel: "news" });
    expect(client.take()).toMatchObject([{ ...REFUSAL, channel: "news" }]);
    jest.advanceTimersByTime(3_600_000);
    expect(entries(client)).toBe(most);
    expect(client.closed).toBeNull();
  });

  test("leave room for a client that comes back with all its channels and changes some", () => {
    const client = new TestCluster().connected();
    for (let i = 0; i < MAX_SUBSCRIPTIONS; i++) client.says("pusher:subscribe", { channel: `c${i}` });
    for (let i = 0; i < 100; i++) {
      client.says("pusher:unsubscribe", { channel: `c${i}` });
      client.says("pusher:subscribe", { channel: `d${i}` });
    }
    expect(new Set(client.takeNames())).toEqual(new Set([SUCCEEDED]));
  });

  test("of many clients are refused when the others of a presence channel were sent much since the last check", () => {
    const network = new TestCluster();
    const other = network.connected();
    other.subscribes(ROOM, { user_id: "other" });
    other.take();
    const clients = Array.from({ length: 10 }, () => network.connected());
    for (let round = 0; round < 200; round += 1) clients.forEach(enter);
    const bytes = other.take().reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
    expect(bytes).toBeWithin(512 * 1024, 1024 ** 2);
    clients[0]?.subscribes(ROOM, { user_id: "0" });
    expect(clients[0]?.take()).toMatchObject([REFUSAL]);
    expect(network.takeEvents().at(-1)?.[0]).toBe("member_removed");
    network.cluster.clientBudget.renew();
    expect(clients.map(enter)).toEqual(clients.map(() => SUCCEEDED));
  });

  test("have their room in a presence channel also when its clients send as much as they may", () => {
    const network = new TestCluster();
    const [sender, late] = [network.connected(), network.connected()];
    sender.subscribes(ROOM, { user_id: "sender" });
    const channel = sender.connection?.application.channel(ROOM) as Channel;
    while (network.cluster.clientBudget.takeEvent(channel, "x".repeat(10_000)));
    late.subscribes(ROOM, { user_id: "late" });
    expect(late.takeNames()).toEqual([SUCCEEDED]);
  });
});

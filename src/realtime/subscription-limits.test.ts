// How often clients may subscribe: alone, and together on a channel whose others are notified of each member.
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import type { Channel } from "./channel.ts";
import { MAX_SUBSCRIPTIONS } from "./protocol/limits.ts";
import { TestCluster, type TestClient } from "./test-support.ts";

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

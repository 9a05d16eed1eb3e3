// Events that clients send to each other: where they are allowed, how they arrive, and how many.
import { describe, expect, jest, test } from "bun:test";
import { TestCluster, type TestClient } from "./test-support.ts";

const REJECTED = { event: "pusher:error", data: { code: null } };
const LIMITED = { event: "pusher:error", data: { code: 4301 } };

function pair(channel: string, members: [unknown, unknown] = [undefined, undefined]) {
  const network = new TestCluster();
  const [sender, other] = [network.connected(), network.connected()] as [TestClient, TestClient];
  sender.subscribes(channel, members[0]);
  other.subscribes(channel, members[1]);
  for (const client of [sender, other]) client.take();
  network.takeEvents();
  return { network, sender, other };
}

describe("a client event", () => {
  test.each(["private-a", "private-cache-a", "private-encrypted-a", "private-encrypted-cache-a"])(
    "on %s reaches the others, and not its sender",
    (channel) => {
      const { network, sender, other } = pair(channel);
      sender.says("client-typing", { who: "ann" }, channel);
      expect(other.take()).toEqual([{ event: "client-typing", channel, data: '{"who":"ann"}' }]);
      expect(sender.take()).toEqual([]);
      const { socketId } = sender;
      expect(network.takeEvents()).toEqual([
        ["client_event", { channel, event: "client-typing", data: '{"who":"ann"}', socketId }],
      ]);
    },
  );

  test("on a presence channel names the user that sent it", () => {
    const { network, sender, other } = pair("presence-a", [{ user_id: 1 }, { user_id: 2 }]);
    sender.says("client-typing", "now", "presence-a");
    const frame = { event: "client-typing", channel: "presence-a", data: "now", user_id: "1" };
    expect(other.take()).toEqual([frame]);
    expect(network.takeEvents()).toMatchObject([["client_event", { data: "now", userId: "1" }]]);
  });

  test.each([[undefined], ["{not json"], [""], ['{"a":1}']])("passes %p on as it is", (data) => {
    const { sender, other } = pair("private-a");
    sender.says("client-x", data, "private-a");
    expect(other.take()).toEqual([
      { event: "client-x", channel: "private-a", ...(data !== undefined && { data }) },
    ]);
  });

  test.each([[null], [0], [false], [[1, { a: [] }]], [{ __proto__: null, x: "ü😀\u2028" }]])(
    "passes %p on as the text that Pusher's clients expect",
    (data) => {
      const { sender, other } = pair("private-a");
      sender.says("client-x", data, "private-a");
      const [frame] = other.take();
      expect(frame).toEqual({
        event: "client-x",
        channel: "private-a",
        data: JSON.stringify(data),
      });
    },
  );

  test.each([
    "1234567890123456789",
    "1.10",
    "1e999",
    '{"id":1234567890123456789,"prices":[1.10,-0,1E3],"text":"\\"}"}',
  ])("passes the digits of %s on as its sender wrote them", (data) => {
    const { network, sender, other } = pair("private-a");
    for (const frame of [
      `{"event":"client-x","channel":"private-a","data":${data}}`,
      `{ "da\\u0074a": ${data} , "channel": "private-a", "event": "client-x" }`,
      `{"data":"first","event":"client-x","x":{"data":"inner"},"data":${data},"channel":"private-a"}`,
    ])
      sender.saysText(frame);
    expect(other.take().map((frame) => frame.data)).toEqual([data, data, data]);
    expect(network.takeEvents()).toMatchObject(Array.from({ length: 3 }, () => ["client_event", { data }]));
  });

  test("is not remembered by a cache channel", () => {
    const { network, sender } = pair("private-cache-a");
    sender.says("client-x", {}, "private-cache-a");
    const late = network.connected();
    late.subscribes("private-cache-a");
    expect(late.takeNames()).toEqual(["pusher_internal:subscription_succeeded", "pusher:cache_miss"]);
  });

  test.each(["a", "cache-a"])("is refused on %s", (channel) => {
    const { network, sender, other } = pair(channel);
    sender.says("client-x", {}, channel);
    expect(sender.take()).toMatchObject([REJECTED]);
    expect(other.take()).toEqual([]);
    expect(network.takeEvents()).toEqual([]);
  });

  test("is refused on a user's own channel and on impossible names", () => {
    const { network, sender } = pair("private-a");
    sender.signsIn({ id: "1" });
    sender.says("pusher:subscribe", { channel: "#server-to-user-1" });
    sender.take();
    for (const channel of ["#server-to-user-1", "", "private a", undefined]) {
      sender.says("client-x", {}, channel);
      expect(sender.take()).toMatchObject([REJECTED]);
    }
    expect(network.takeEvents()).not.toContainEqual(expect.arrayContaining(["client_event"]));
  });

  test("needs a subscription of its sender, and the prefix of client events in its name", () => {
    const { network, sender, other } = pair("private-a");
    const outsider = network.connected();
    outsider.says("client-x", {}, "private-a");
    sender.says("typing", {}, "private-a");
    sender.says("pusher:typing", {}, "private-a");
    sender.says("pusher_internal:member_added", { user_id: "1" }, "private-a");
    sender.says(`client-${"x".repeat(194)}`, {}, "private-a");
    expect([...outsider.take(), ...sender.take()]).toMatchObject(Array.from({ length: 5 }, () => REJECTED));
    expect(other.take()).toEqual([]);
    sender.says("pusher:unsubscribe", { channel: "private-a" });
    sender.says("client-x", {}, "private-a");
    expect(sender.take()).toMatchObject([REJECTED]);
    expect(other.take()).toEqual([]);
  });

  test("that is nested too deeply to be passed on is refused", () => {
    const { sender, other } = pair("private-a");
    const depth = 200_000;
    const data = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    sender.saysText(`{"event":"client-x","channel":"private-a","data":${data}}`);
    expect(sender.take()).toMatchObject([REJECTED]);
    expect(other.take()).toEqual([]);
    expect(sender.closed).toBeNull();
  });

  test("is refused from the eleventh in a second on, wherever the second begins; the connection stays", () => {
    jest.useFakeTimers();
    try {
      const { sender, other } = pair("private-a");
      const sends = (count: number) => {
        for (let i = 0; i < count; i++) sender.says("client-x", i, "private-a");
        return [other.take().length, sender.take()];
      };
      expect(sends(5)).toEqual([5, []]);
      jest.advanceTimersByTime(900);
      expect(sends(7)).toMatchObject([5, [LIMITED, LIMITED]]);
      jest.advanceTimersByTime(99);
      expect(sends(1)).toMatchObject([0, [LIMITED]]);
      jest.advanceTimersByTime(1);
      expect(sends(6)).toMatchObject([5, [LIMITED]]);
      expect(sender.closed).toBeNull();
    } finally {
      jest.useRealTimers();
    }
  });

  test("is refused when many clients have sent much to a channel since the last check; others' channels go on", () => {
    const network = new TestCluster();
    const [reader, elsewhere] = [network.connected(), network.connected()];
    const senders = Array.from({ length: 20 }, () => network.connected());
    for (const client of [reader, ...senders]) client.subscribes("private-a");
    for (const client of [elsewhere, ...senders]) client.subscribes("private-b");
    for (const client of [reader, elsewhere, ...senders]) client.take();
    const data = "x".repeat(9_900);
    for (const sender of senders) for (let i = 0; i < 5; i++) sender.says("client-x", data, "private-a");
    const received = reader.take();
    expect(received.length * data.length).toBeWithin(512 * 1024 - 10_000, 512 * 1024 + 10_000);
    const [first, ...rest] = senders as [TestClient, ...TestClient[]];
    const last = rest.at(-1);
    expect(last?.take().filter(({ event }) => event === "pusher:error")).toMatchObject(
      Array.from({ length: 5 }, () => LIMITED),
    );
    last?.says("client-x", data, "private-b");
    expect(elsewhere.take()).toHaveLength(1);
    network.cluster.clientBudget.renew();
    first.says("client-x", "again", "private-a");
    expect(reader.take()).toMatchObject([{ data: "again" }]);
  });
});

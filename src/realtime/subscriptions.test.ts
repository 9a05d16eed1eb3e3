// Subscriptions to channels of every kind: which clients are let in, and the notifications of presence channels.
import { describe, expect, test } from "bun:test";
import { MAX_CHANNELS, MAX_SUBSCRIPTIONS } from "./protocol/limits.ts";
import { channelText, hmacHex } from "./protocol/signatures.ts";
import { KEY, SECRET, TestCluster, type TestClient } from "./test-support.ts";

const SUCCEEDED = "pusher_internal:subscription_succeeded";
const FAILED = "pusher:subscription_error";

/** Every kind that needs a signature. */
const PRIVATE = [
  "private-a",
  "private-encrypted-a",
  "private-cache-a",
  "private-encrypted-cache-a",
  "private-cache",
  "private-",
];
const PRESENCE = ["presence-a", "presence-cache-a", "presence-"];
const PUBLIC = ["a", "cache-a", "Private-a", "privat", "my-private-a", "cache-private-a", "-=@,.;_A9"];
const IMPOSSIBLE = [
  "",
  "a b",
  "ä",
  "a:b",
  "#a",
  "#server-to-user-",
  "a\n",
  "x".repeat(201),
  "#Server-to-user-1",
];

describe("a public channel", () => {
  test.each(PUBLIC)("%p needs no signature", (channel) => {
    const network = new TestCluster();
    const client = network.connected();
    client.says("pusher:subscribe", { channel });
    expect(client.take()[0]).toEqual({ event: SUCCEEDED, channel, data: {} });
    expect(network.takeEvents()[0]).toEqual(["channel_occupied", channel]);
  });

  test("may have its data as a JSON text", () => {
    const client = new TestCluster().connected();
    client.says("pusher:subscribe", JSON.stringify({ channel: "a", auth: "", channel_data: null }));
    expect(client.takeNames()).toEqual([SUCCEEDED]);
  });

  test("can be subscribed to once, and unsubscribed from any number of times", () => {
    const network = new TestCluster();
    const client = network.connected();
    for (let i = 0; i < 2; i++) client.says("pusher:subscribe", { channel: "a" });
    expect(client.take()).toEqual([
      { event: SUCCEEDED, channel: "a", data: {} },
      { event: "pusher:error", data: { code: null, message: "Existing subscription to channel a" } },
    ]);
    for (let i = 0; i < 2; i++) client.says("pusher:unsubscribe", { channel: "a" });
    client.says("pusher:unsubscribe", { channel: "not a name" });
    expect(client.take()).toEqual([]);
    const names = network.takeEvents().map(([name]) => name);
    expect(names).toEqual([
      "channel_occupied",
      "subscription_count",
      "subscription_count",
      "channel_vacated",
    ]);
  });
});

test.each(IMPOSSIBLE)("no channel can be named %p", (channel) => {
  const network = new TestCluster();
  const client = network.connected();
  client.subscribes(channel, { user_id: "1" });
  expect(client.take()).toEqual([
    { event: FAILED, channel, data: { type: "InvalidChannel", error: "Invalid channel name", status: 400 } },
  ]);
  expect(network.takeEvents()).toEqual([]);
});

test("a channel's name may have 200 characters", () => {
  const client = new TestCluster().connected();
  client.subscribes(`private-${"x".repeat(192)}`);
  expect(client.takeNames()).toEqual([SUCCEEDED]);
});

describe.each([...PRIVATE, ...PRESENCE])("the channel %s", (channel) => {
  const data = channel.startsWith("presence-") ? '{"user_id":"1"}' : undefined;

  test("lets in a client with a valid signature", () => {
    const client = new TestCluster().connected();
    client.subscribes(channel, data === undefined ? undefined : JSON.parse(data));
    expect(client.takeNames()[0]).toBe(SUCCEEDED);
  });

  test("refuses every other signature, and stays unoccupied", () => {
    const network = new TestCluster();
    const client = network.connected();
    const { socketId } = client;
    const right = hmacHex(SECRET, channelText(socketId, channel, data));
    const wrong: unknown[] = [
      undefined,
      null,
      "",
      7,
      {},
      [`${KEY}:${right}`],
      right,
      `:${right}`,
      `${KEY}:`,
      `${KEY}:${right.slice(0, -1)}`,
      `${KEY}:${right}0`,
      `${KEY}:${"é".repeat(32)}`,
      `other:${right}`,
      `${KEY}:${hmacHex("another secret", channelText(socketId, channel, data))}`,
      signed("1.1", channel, data),
      signed(socketId, `${channel}x`, data),
      signed(socketId, channel, '{"user_id":"2"}'),
    ];
    for (const auth of wrong) {
      client.says("pusher:subscribe", { channel, auth, channel_data: data });
      expect(client.takeNames()).toEqual([FAILED]);
    }
    expect(network.takeEvents()).toEqual([]);
    expect(client.connection?.application.channel(channel)).toBeUndefined();
  });
});

test("a private channel's signature may cover data", () => {
  const client = new TestCluster().connected();
  client.subscribes("private-a", { user_id: "1" });
  expect(client.takeNames()).toEqual([SUCCEEDED]);
});

test("a connection has at most 1,000 subscriptions", () => {
  const client = new TestCluster().connected();
  for (let i = 0; i < 1_000; i++) client.says("pusher:subscribe", { channel: `c${i}` });
  expect(new Set(client.takeNames())).toEqual(new Set([SUCCEEDED]));
  client.says("pusher:subscribe", { channel: "more" });
  expect(client.takeNames()).toEqual([FAILED]);
  client.says("pusher:unsubscribe", { channel: "c1" });
  client.says("pusher:subscribe", { channel: "more" });
  expect(client.takeNames()).toEqual([SUCCEEDED]);
});

describe("a presence channel", () => {
  const ROOM = "presence-room";

  test("sends a subscriber its members, and the others a user's first arrival and last departure", () => {
    const network = new TestCluster();
    const [ann, bob, bobToo] = [network.connected(), network.connected(), network.connected()];
    ann.subscribes(ROOM, { user_id: "ann", user_info: { name: "Ann" } });
    expect(presence(ann)).toEqual({ count: 1, ids: ["ann"], hash: { ann: { name: "Ann" } } });
    bob.subscribes(ROOM, { user_id: "bob" });
    expect(presence(bob)).toEqual({
      count: 2,
      ids: ["ann", "bob"],
      hash: { ann: { name: "Ann" }, bob: null },
    });
    expect(ann.take()).toEqual([
      { event: "pusher_internal:member_added", channel: ROOM, data: { user_id: "bob" } },
    ]);
    bobToo.subscribes(ROOM, { user_id: "bob", user_info: { name: "Bob" } });
    expect(presence(bobToo)).toMatchObject({ count: 2, ids: ["ann", "bob"] });
    bob.disconnects();
    expect([...ann.take(), ...bobToo.take()]).toEqual([]);
    bobToo.says("pusher:unsubscribe", { channel: ROOM });
    expect(ann.take()).toEqual([
      { event: "pusher_internal:member_removed", channel: ROOM, data: { user_id: "bob" } },
    ]);
    expect(bobToo.take()).toEqual([]);
    ann.disconnects();
    expect(network.takeEvents()).toEqual([
      ["channel_occupied", ROOM],
      ["member_added", ROOM, "ann"],
      ["member_added", ROOM, "bob"],
      ["member_removed", ROOM, "bob"],
      ["member_removed", ROOM, "ann"],
      ["channel_vacated", ROOM],
    ]);
  });

  test.each(["__proto__", "constructor", "toString", "0", "-1", "ü 😀", "x".repeat(128)])(
    "takes %p for a user id like any other",
    (id) => {
      const network = new TestCluster();
      const [first, second] = [network.connected(), network.connected()];
      first.subscribes(ROOM, { user_id: id, user_info: { n: 1 } });
      const frame = JSON.stringify(first.take());
      second.subscribes(ROOM, { user_id: "other" });
      const { ids, hash } = presence(second);
      expect(ids).toEqual([id, "other"]);
      expect(Object.entries(hash)).toContainEqual([id, { n: 1 }]);
      expect(frame).toContain(JSON.stringify(id));
      first.disconnects();
      expect(second.take().at(-1)).toMatchObject({ data: { user_id: id } });
    },
  );

  test("takes a number for the same user as its text", () => {
    const network = new TestCluster();
    const [first, second] = [network.connected(), network.connected()];
    first.subscribes(ROOM, { user_id: 10 });
    second.subscribes(ROOM, { user_id: "10" });
    expect(presence(second)).toEqual({ count: 1, ids: ["10"], hash: { "10": null } });
    expect(first.take().slice(1)).toEqual([]);
  });

  test.each([
    [undefined],
    ["no object"],
    [[]],
    [{}],
    [{ user_id: "" }],
    [{ user_id: null }],
    [{ user_id: true }],
    [{ user_id: {} }],
    [{ user_id: "x".repeat(129) }],
    [{ user_id: "1", user_info: "x".repeat(1_023) }],
  ])("refuses %p as who somebody is", (data) => {
    const network = new TestCluster();
    const client = network.connected();
    client.subscribes(ROOM, data);
    expect(client.take()).toMatchObject([{ event: FAILED, channel: ROOM, data: { status: 400 } }]);
    expect(network.takeEvents()).toEqual([]);
  });

  test("refuses data that is not JSON, however well it is signed", () => {
    const client = new TestCluster().connected();
    for (const text of ["", "{", "null", "{'user_id':1}"]) {
      const auth = `${KEY}:${hmacHex(SECRET, channelText(client.socketId, ROOM, text))}`;
      client.says("pusher:subscribe", { channel: ROOM, auth, channel_data: text });
      expect(client.takeNames()).toEqual([FAILED]);
    }
  });

  test("has at most 100 members, which may have more connections", () => {
    const network = new TestCluster();
    const join = (id: string) => {
      const client = network.connected();
      client.subscribes(ROOM, { user_id: id });
      return client;
    };
    const members = Array.from({ length: 100 }, (_, i) => join(`u${i}`));
    expect(join("one more").take()).toMatchObject([{ event: FAILED, data: { type: "LimitReached" } }]);
    expect(join("u7").takeNames()).toEqual([SUCCEEDED]);
    members[99]?.disconnects();
    expect(join("one more").takeNames()).toEqual([SUCCEEDED]);
    expect(join("u99").takeNames()).toEqual([FAILED]);
  });

  test("is another channel in each application that has the name", () => {
    const network = new TestCluster({}, { id: "other", appId: "4", key: "other", secrets: [] });
    const [client, outsider] = [network.connected(), network.connect({ path: "/app/other" })];
    outsider.take();
    for (const each of [client, outsider]) each.says("pusher:subscribe", { channel: "news" });
    client.connection?.application.publish("news", "hello", "1");
    expect(client.takeNames()).toEqual([SUCCEEDED, "hello"]);
    expect(outsider.takeNames()).toEqual([SUCCEEDED]);
  });
});

function signed(...text: Parameters<typeof channelText>): string {
  return `${KEY}:${hmacHex(SECRET, channelText(...text))}`;
}

function presence(client: TestClient): { count: number; ids: string[]; hash: Record<string, unknown> } {
  const frame = client.take().find(({ event }) => event === SUCCEEDED);
  if (frame === undefined) throw new Error("the subscription did not succeed");
  return (frame.data as { presence: ReturnType<typeof presence> }).presence;
}

test("an application has a bounded number of channels, and present channels take more subscribers", () => {
  const network = new TestCluster();
  const clients = Array.from({ length: MAX_CHANNELS / MAX_SUBSCRIPTIONS }, () => network.connected());
  for (const [place, client] of clients.entries()) {
    for (let count = 0; count < MAX_SUBSCRIPTIONS; count += 1)
      client.says("pusher:subscribe", { channel: `${place}-${count}` });
  }
  const late = network.connected();
  late.says("pusher:subscribe", { channel: "one-more" });
  expect(late.take()).toMatchObject([{ event: "pusher:subscription_error", data: { type: "LimitReached" } }]);
  late.says("pusher:subscribe", { channel: "0-0" });
  expect(late.takeNames()).toEqual([SUCCEEDED]);
  clients[0]?.says("pusher:unsubscribe", { channel: "0-1" });
  late.says("pusher:subscribe", { channel: "one-more" });
  expect(late.takeNames()).toEqual([SUCCEEDED]);
});

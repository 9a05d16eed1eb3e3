// The official libraries, unmodified: `pusher-js` for clients and `pusher` for servers.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type Pusher from "pusher-js";
import type { PresenceChannel } from "pusher-js";
import { until } from "../support/pilvi/pilvi.ts";
import {
  AuthServer,
  received,
  inState,
  pusherClient,
  subscribed,
  type SignedInUser,
} from "../support/clients/pusher-clients.ts";
import { startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");

let realtime: TestRealtime;
let auth: AuthServer;
const clients: Pusher[] = [];

beforeAll(async () => {
  realtime = await startRealtime({ subscriptionCountEnabled: true });
  auth = new AuthServer(realtime.pusher({ encryptionMasterKeyBase64: MASTER_KEY }));
});

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});

afterAll(async () => {
  await auth.close();
  await realtime.close();
});

async function connected(user?: SignedInUser): Promise<Pusher> {
  const client = pusherClient(realtime.port, auth.options(user));
  clients.push(client);
  await inState(client, "connected");
  return client;
}

async function get(path: string, params: Record<string, string> = {}): Promise<unknown> {
  return await (await realtime.pusher().get({ path, params })).json();
}

describe("a public channel", () => {
  test("delivers events, but not to the client that sent them", async () => {
    const [sender, other] = [await connected(), await connected()];
    const [mine, theirs] = [
      await subscribed(sender.subscribe("news")),
      await subscribed(other.subscribe("news")),
    ];
    const [atSender, atOther] = [received(mine, "hello"), received(theirs, "hello")];
    await realtime.pusher().trigger("news", "hello", { n: 1 }, { socket_id: sender.connection.socket_id });
    await realtime.pusher().trigger(["news", "other"], "hello", "text");
    await until("both came", () => atOther.length === 2 && atSender.length === 1);
    expect(atOther).toEqual([{ n: 1 }, "text"]);
    expect(atSender).toEqual(["text"]);
  });

  test("delivers batches in order, and nothing after the client has left", async () => {
    const client = await connected();
    const channel = await subscribed(client.subscribe("news"));
    const events = received(channel, "hello");
    const batch = Array.from({ length: 10 }, (_, data) => ({ channel: "news", name: "hello", data }));
    await realtime.pusher().triggerBatch(batch);
    await until("all came", () => events.length === 10);
    expect(events).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    client.unsubscribe("news");
    await until("nobody is there", async () => JSON.stringify(await get("/channels")) === '{"channels":{}}');
    await realtime.pusher().trigger("news", "hello", 10);
    expect(events).toHaveLength(10);
  });

  test("reports its number of subscribers", async () => {
    const [one, two] = [await connected(), await connected()];
    const channel = await subscribed(one.subscribe("counted"));
    const counts = received(channel, "pusher:subscription_count");
    await subscribed(two.subscribe("counted"));
    await until("they are two", () => channel.subscriptionCount === 2);
    two.disconnect();
    await until("it is one again", () => channel.subscriptionCount === 1 && counts.length >= 2);
    expect(counts.slice(-2)).toEqual([{ subscription_count: 2 }, { subscription_count: 1 }]);
  });
});

describe("a private channel", () => {
  test("accepts users whom the customer's server signs for", async () => {
    const client = await connected();
    await subscribed(client.subscribe("private-room"));
    const forbidden = client.subscribe("private-forbidden");
    const errors = received(forbidden, "pusher:subscription_error");
    await until("the other is refused", () => errors.length === 1);
    expect(errors).toMatchObject([{ type: "AuthError", status: 403 }]);
  });

  test("refuses users whom another server signs for", async () => {
    const forger = new AuthServer(realtime.pusher({ secret: "another" }));
    try {
      const client = pusherClient(realtime.port, forger.options());
      clients.push(client);
      const errors = received(client.subscribe("private-room"), "pusher:subscription_error");
      await until("it is refused", () => errors.length === 1);
      expect(errors).toMatchObject([{ type: "AuthError", status: 401 }]);
    } finally {
      await forger.close();
    }
  });

  test("passes client events to the other members", async () => {
    const [one, two] = [await connected(), await connected()];
    const [mine, theirs] = [
      await subscribed(one.subscribe("private-room")),
      await subscribed(two.subscribe("private-room")),
    ];
    const [atOne, atTwo] = [received(mine, "client-typing"), received(theirs, "client-typing")];
    mine.trigger("client-typing", { who: "ann" });
    await until("it came", () => atTwo.length === 1);
    theirs.trigger("client-typing", "back");
    await until("the answer came", () => atOne.length === 1);
    expect([atOne, atTwo]).toEqual([["back"], [{ who: "ann" }]]);
  });
});

describe("a presence channel", () => {
  test("knows its members, and the sender of each event", async () => {
    const ann = await connected({ id: "ann", user_info: { name: "Ann" } });
    const room = (await subscribed(ann.subscribe("presence-room"))) as PresenceChannel;
    expect(room.members.count).toBe(1);
    expect(room.members.me).toEqual({ id: "ann", info: { name: "Ann" } });
    const [added, removed] = [received(room, "pusher:member_added"), received(room, "pusher:member_removed")];

    const bobs = [await connected({ id: "bob" }), await connected({ id: "bob" })] as const;
    const rooms = await Promise.all(bobs.map(async (bob) => subscribed(bob.subscribe("presence-room"))));
    await until("bob came", () => added.length === 1);
    expect((rooms[1] as PresenceChannel).members.count).toBe(2);
    expect(await get("/channels/presence-room/users")).toEqual({ users: [{ id: "ann" }, { id: "bob" }] });
    expect(await get("/channels/presence-room", { info: "user_count,subscription_count" })).toEqual({
      occupied: true,
      user_count: 2,
      subscription_count: 3,
    });
    expect(await get("/channels", { filter_by_prefix: "presence-", info: "user_count" })).toEqual({
      channels: { "presence-room": { user_count: 2 } },
    });

    const typing = received(room, "client-typing");
    rooms[0]?.trigger("client-typing", {});
    await until("it came", () => typing.length === 1);
    expect(typing).toEqual([{ data: {}, userId: "bob" }]);

    bobs[0].disconnect();
    bobs[1].disconnect();
    await until("bob left", () => removed.length === 1);
    expect(room.members.count).toBe(1);
    expect(added).toEqual([{ id: "bob", info: {} }]);
    expect(removed).toEqual([{ id: "bob", info: {} }]);
  });
});

describe("an encrypted channel", () => {
  test.each(["private-encrypted-room", "private-encrypted-cache-room"])("%s can be read", async (name) => {
    const pusher = realtime.pusher({ encryptionMasterKeyBase64: MASTER_KEY });
    const client = await connected();
    const channel = client.subscribe(name);
    const events = received(channel, "secret");
    await subscribed(channel);
    await pusher.trigger(name, "secret", { deep: "ü😀" });
    await until("it came", () => events.length === 1);
    expect(events).toEqual([{ deep: "ü😀" }]);
  });
});

describe("a cache channel", () => {
  test.each(["cache-a", "private-cache-a", "presence-cache-a"])("%s gives the last event", async (name) => {
    const [early, late] = [await connected(), await connected()];
    const misses = received(early.subscribe(name), "pusher:cache_miss");
    await until("there is none", () => misses.length === 1);
    await realtime.pusher().trigger(name, "weather", "sun");
    await realtime.pusher().trigger(name, "weather", "rain");
    const channel = late.subscribe(name);
    const [events, lateMisses] = [received(channel, "weather"), received(channel, "pusher:cache_miss")];
    await until("it came", () => events.length === 1);
    expect([events, lateMisses]).toEqual([["rain"], []]);
    const { cache } = (await get(`/channels/${name}`, { info: "cache" })) as {
      cache: { data: string; ttl: number };
    };
    expect(cache.data).toBe("rain");
    expect(cache.ttl).toBeWithin(1_700, 1_801);
  });
});

describe("a user", () => {
  test("signs in, receives messages, is watched, and is terminated", async () => {
    const watcher = await connected({ id: "watcher", watchlist: ["ann", "nobody"] });
    const [online, offline] = [
      received(watcher.user.watchlist, "online"),
      received(watcher.user.watchlist, "offline"),
    ];
    watcher.signin();
    await watcher.user.signinDonePromise;
    await until("both are offline", () => offline.length === 1);
    expect(offline).toEqual([{ name: "offline", user_ids: ["ann", "nobody"] }]);

    const ann = await connected({ id: "ann", user_info: { name: "Ann" } });
    const mail = received(ann.user, "mail");
    ann.signin();
    await ann.user.signinDonePromise;
    expect(ann.user.user_data).toEqual({ id: "ann", user_info: { name: "Ann" } });
    await until("ann is online", () => online.length === 1);
    await until("ann's channel is there", async () => (await isOccupied("#server-to-user-ann")) as boolean);
    await realtime.pusher().sendToUser("ann", "mail", { subject: "hi" });
    await until("the mail came", () => mail.length === 1);
    expect(mail).toEqual([{ subject: "hi" }]);

    await realtime.pusher().terminateUserConnections("ann");
    await inState(ann, "disconnected");
    await until("ann is offline", () => offline.length === 2);
    expect(offline[1]).toEqual({ name: "offline", user_ids: ["ann"] });
    expect(watcher.connection.state).toBe("connected");
  });
});

async function isOccupied(channel: string): Promise<boolean> {
  const answer = await get(`/channels/${encodeURIComponent(channel)}`);
  return (answer as { occupied: boolean }).occupied;
}

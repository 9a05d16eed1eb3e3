// Signing in, the channels of single users, watchlists, and ending a user's connections.
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { COUNT_THRESHOLD, LARGE_COUNT_INTERVAL_MS, WATCHLIST_INTERVAL_MS } from "./protocol/limits.ts";
import { KEY, TestCluster, type TestClient } from "./test-support.ts";

const WATCHLIST = "pusher_internal:watchlist_events";
const ROOM = "presence-room";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function signedIn(network: TestCluster, user: Record<string, unknown>): TestClient {
  const client = network.connected();
  client.signsIn(user);
  client.take();
  return client;
}

describe("a sign-in", () => {
  test("with a valid proof is answered with the signed data", () => {
    const client = new TestCluster().connected();
    const user = { id: "ann", user_info: { name: "Ann" } };
    client.signsIn(user);
    expect(client.take()).toEqual([
      { event: "pusher:signin_success", data: { user_data: JSON.stringify(user) } },
    ]);
    client.signsIn(user);
    expect(client.takeNames()).toEqual(["pusher:signin_success"]);
    expect(client.closed).toBeNull();
  });

  test.each([
    [{ auth: `${KEY}:${"0".repeat(64)}`, user_data: '{"id":"1"}' }],
    [{ user_data: '{"id":"1"}' }],
    [{ auth: null, user_data: null }],
    [{}],
    ["nonsense"],
    [undefined],
  ])("with %p closes with 4009", (data) => {
    const client = new TestCluster().connected();
    client.says("pusher:signin", data);
    expect(client.closed?.code).toBe(4009);
    expect(client.take()).toEqual([]);
  });

  test.each([[{}], [{ id: "" }], [{ id: null }], [{ id: "x".repeat(129) }], [[]], ["1"]])(
    "as %p closes with 4009, however well it is signed",
    (user) => {
      const client = new TestCluster().connected();
      client.signsIn(user);
      expect(client.closed?.code).toBe(4009);
    },
  );

  test("by a number is as the text of the number, and so are the users that are watched", () => {
    const network = new TestCluster();
    const [watcher, watched, next] = [network.connected(), network.connected(), network.connected()];
    watcher.signsInBy('{"id":1234567890123456789,"watchlist":[1234567890123456790]}');
    watcher.take();
    next.signsInBy('{"id":1234567890123456791}');
    watched.signsInBy('{"id":1234567890123456790}');
    expect(changes(watcher)).toEqual(["online 1234567890123456790"]);
    next.says("pusher:subscribe", { channel: "#server-to-user-1234567890123456790" });
    expect(next.takeNames().at(-1)).toBe("pusher:subscription_error");
    expect(watched.connection?.application.terminateUser("1234567890123456790")).toBe(1);
  });

  test("as another user closes with 4009, and the first user is gone", () => {
    const network = new TestCluster();
    const watcher = signedIn(network, { id: "w", watchlist: ["ann"] });
    const client = signedIn(network, { id: "ann" });
    client.signsIn({ id: "bob" });
    expect(client.closed?.code).toBe(4009);
    jest.advanceTimersByTime(WATCHLIST_INTERVAL_MS);
    expect(changes(watcher)).toEqual(["online ann", "offline ann"]);
  });

  test("identifies the user on presence channels, within their bounds", () => {
    const network = new TestCluster();
    const ann = signedIn(network, { id: "ann", user_info: { name: "Ann" } });
    ann.subscribes(ROOM);
    expect(ann.take()[0]?.data).toEqual({
      presence: { count: 1, ids: ["ann"], hash: { ann: { name: "Ann" } } },
    });
    const large = signedIn(network, { id: "bob", user_info: "x".repeat(2_000) });
    large.subscribes(ROOM);
    expect(large.takeNames()).toEqual(["pusher:subscription_error"]);
  });
});

describe("a user's own channel", () => {
  test("is open to that user's connections alone, whatever is signed", () => {
    const network = new TestCluster();
    const [ann, bob, nobody] = [
      signedIn(network, { id: "ann" }),
      signedIn(network, { id: "bob" }),
      network.connected(),
    ];
    const channel = "#server-to-user-ann";
    ann.says("pusher:subscribe", { channel, auth: "" });
    for (const client of [bob, nobody]) client.subscribes(channel);
    expect(ann.takeNames()).toEqual(["pusher_internal:subscription_succeeded"]);
    expect([...bob.takeNames(), ...nobody.takeNames()]).toEqual(Array(2).fill("pusher:subscription_error"));
    network.cluster.applicationByAppId("3")?.publish(channel, "mail", "1");
    expect(ann.takeNames()).toEqual(["mail"]);
    expect([...bob.take(), ...nobody.take()]).toEqual([]);
  });
});

describe("a watchlist", () => {
  test("reports the present users, then first arrivals and last departures", () => {
    const network = new TestCluster();
    signedIn(network, { id: "ann" });
    const watcher = network.connected();
    watcher.signsIn({ id: "w", watchlist: ["ann", "bob", "bob", 7, null, {}] });
    expect(watcher.take().at(-1)).toEqual({
      event: WATCHLIST,
      data: {
        events: [
          { name: "online", user_ids: ["ann"] },
          { name: "offline", user_ids: ["bob", "7"] },
        ],
      },
    });
    const [bob, bobToo] = [signedIn(network, { id: "bob" }), signedIn(network, { id: "bob" })];
    expect(changes(watcher)).toEqual(["online bob"]);
    bob.disconnects();
    expect(changes(watcher)).toEqual([]);
    jest.advanceTimersByTime(WATCHLIST_INTERVAL_MS);
    bobToo.disconnects();
    expect(changes(watcher)).toEqual(["offline bob"]);
    watcher.disconnects();
    signedIn(network, { id: "bob" });
    expect(watcher.take()).toEqual([]);
  });

  test("reports a user that comes and goes at once, and then only the state after each interval", () => {
    const network = new TestCluster();
    const watcher = signedIn(network, { id: "w", watchlist: ["ann"] });
    const flap = () => signedIn(network, { id: "ann" }).disconnects();
    for (let i = 0; i < 50; i++) flap();
    expect(changes(watcher)).toEqual(["online ann"]);
    jest.advanceTimersByTime(WATCHLIST_INTERVAL_MS - 1);
    expect(changes(watcher)).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(changes(watcher)).toEqual(["offline ann"]);
    for (let i = 0; i < 50; i++) flap();
    jest.advanceTimersByTime(WATCHLIST_INTERVAL_MS);
    expect(changes(watcher)).toEqual([]);
    signedIn(network, { id: "ann" });
    expect(changes(watcher)).toEqual(["online ann"]);
  });

  test("of a user with more than 100 watchers reports at most every 5 s", () => {
    const network = new TestCluster();
    const watchers = Array.from({ length: COUNT_THRESHOLD + 1 }, (_, i) =>
      signedIn(network, { id: `w${i}`, watchlist: ["ann"] }),
    );
    const reported = () => watchers.map((watcher) => changes(watcher).join());
    signedIn(network, { id: "ann" }).disconnects();
    expect(new Set(reported())).toEqual(new Set(["online ann"]));
    jest.advanceTimersByTime(LARGE_COUNT_INTERVAL_MS - 1);
    expect(new Set(reported())).toEqual(new Set([""]));
    jest.advanceTimersByTime(1);
    expect(new Set(reported())).toEqual(new Set(["offline ann"]));
  });

  test("of a new watcher begins with what the others know, so that all know the same in the end", () => {
    const network = new TestCluster();
    signedIn(network, { id: "v", watchlist: ["ann"] });
    signedIn(network, { id: "ann", watchlist: ["ann"] }).disconnects();
    const late = network.connected();
    late.signsIn({ id: "w", watchlist: ["ann"] });
    late.take().shift();
    const again = network.connected();
    again.signsIn({ id: "ann", watchlist: ["ann"] });
    const own = { event: WATCHLIST, data: { events: [{ name: "online", user_ids: ["ann"] }] } };
    expect(again.take().at(-1)).toEqual(own);
    again.disconnects();
    jest.advanceTimersByTime(WATCHLIST_INTERVAL_MS);
    expect(changes(late)).toEqual(["offline ann"]);
  });

  test("leaves no timer when the watchers are gone, or when nothing changes", () => {
    const network = new TestCluster();
    const before = jest.getTimerCount();
    const watchers = ["v", "w"].map((id) => signedIn(network, { id, watchlist: ["ann", "bob"] }));
    for (const id of ["ann", "bob", "unwatched"]) signedIn(network, { id }).disconnects();
    expect(jest.getTimerCount() - before).toBe(2);
    for (const watcher of watchers) watcher.disconnects();
    expect(jest.getTimerCount()).toBe(before);
    const watcher = signedIn(network, { id: "w", watchlist: ["ann"] });
    signedIn(network, { id: "ann" });
    jest.advanceTimersByTime(WATCHLIST_INTERVAL_MS);
    expect(changes(watcher)).toEqual(["online ann"]);
    expect(jest.getTimerCount()).toBe(before);
  });

  test("of more than 100 users watches the first 100, and the client gets the error 4302", () => {
    const network = new TestCluster();
    const client = network.connected();
    client.signsIn({ id: "w", watchlist: Array.from({ length: 101 }, (_, i) => `u${i}`) });
    expect(client.take()).toMatchObject([
      { event: "pusher:signin_success" },
      { event: WATCHLIST, data: { events: [{ name: "offline", user_ids: { length: 100 } }] } },
      { event: "pusher:error", data: { code: 4302 } },
    ]);
    for (const id of ["u99", "u100"]) signedIn(network, { id });
    expect(changes(client)).toEqual(["online u99"]);
    expect(client.connection?.user?.id).toBe("w");
    const allowed = network.connected();
    allowed.signsIn({ id: "v", watchlist: Array.from({ length: 100 }, (_, i) => `u${i}`) });
    expect(allowed.takeNames()).toEqual(["pusher:signin_success", WATCHLIST]);
  });

  test("that is not a list watches nobody", () => {
    const client = new TestCluster().connected();
    client.signsIn({ id: "w", watchlist: "ann" });
    expect(client.takeNames()).toEqual(["pusher:signin_success"]);
  });

  test("of a user that watches itself reports nothing of its own connections", () => {
    const network = new TestCluster();
    const first = signedIn(network, { id: "w", watchlist: ["w"] });
    signedIn(network, { id: "w", watchlist: ["w"] }).disconnects();
    expect(first.take()).toEqual([]);
  });
});

describe("a user's connections", () => {
  test("are closed with 4009, all of them and no others; presence alone is no sign-in", () => {
    const network = new TestCluster();
    const [ann, annToo, bob] = [
      signedIn(network, { id: "ann" }),
      signedIn(network, { id: "ann" }),
      signedIn(network, { id: "bob" }),
    ];
    const guest = network.connected();
    for (const client of [ann, bob]) client.subscribes(ROOM);
    guest.subscribes(ROOM, { user_id: "ann" });
    ann.take();
    const application = network.cluster.applicationByAppId("3");
    expect(application?.terminateUser("ann")).toBe(2);
    expect([ann, annToo, bob, guest].map(({ closed }) => closed?.code)).toEqual([
      4009,
      4009,
      undefined,
      undefined,
    ]);
    expect(ann.take()).toEqual([]);
    expect(application?.terminateUser("ann")).toBe(0);
    expect(application?.terminateUser("__proto__")).toBe(0);
    expect(application?.connections.size).toBe(2);
  });
});

/** The changes that a watcher received. */
function changes(client: TestClient): string[] {
  return client.take().flatMap(({ data }) => {
    const { events } = data as { events: { name: string; user_ids: string[] }[] };
    return events.flatMap(({ name, user_ids: ids }) => ids.map((id) => `${name} ${id}`));
  });
}

// The clients that a cluster lets in, and the effect of a new configuration on open connections.
import { describe, expect, jest, test } from "bun:test";
import { spreadOut } from "./spread-out.ts";
import { KEY, SECRET, TestCluster, applicationConfig, type TestClient } from "./test-support.ts";
import { SMALL_COUNT_INTERVAL_MS } from "./protocol/limits.ts";
import { hmacHex } from "./protocol/signatures.ts";

const CLIENT = "client=js&version=8.4.0";

describe("a handshake", () => {
  test("is answered with a socket id and the activity timeout", () => {
    const client = new TestCluster({ activityTimeoutSeconds: 17 }).connect();
    const [greeting] = client.take();
    expect(greeting).toEqual({
      event: "pusher:connection_established",
      data: { socket_id: client.socketId, activity_timeout: 17 },
    });
    expect(client.socketId).toMatch(/^\d+\.\d+$/);
  });

  test.each([
    [{ path: "/app/unknown" }, 4001],
    [{ path: "/app/__proto__" }, 4001],
    [{ path: "/" }, 4005],
    [{ path: "/app" }, 4005],
    [{ path: "/app/" }, 4005],
    [{ path: `/app/${KEY}/` }, 4005],
    [{ path: `/apps/${KEY}` }, 4005],
    [{ path: `/x/app/${KEY}` }, 4005],
    [{ query: `${CLIENT}&protocol=seven` }, 4006],
    [{ query: `${CLIENT}&protocol=7.1` }, 4006],
    [{ query: `${CLIENT}&protocol=-7` }, 4006],
    [{ query: `${CLIENT}&protocol=3` }, 4007],
    [{ query: `${CLIENT}&protocol=8` }, 4007],
    [{ query: `${CLIENT}&protocol=999999999` }, 4007],
    [{ query: "client=js&version=latest" }, 4006],
    [{ query: "client=js" }, 4008],
    [{ query: "client=js&protocol=" }, 4008],
    [{ query: "" }, 4008],
  ])("with %p is refused with %i", (options, code) => {
    const client = new TestCluster().connect(options);
    expect(client.connection).toBeNull();
    expect(client.closed?.code).toBe(code);
  });

  test.each([
    ["protocol=4", 1],
    ["protocol=5", 1],
    ["client=js&version=1.9", 1],
    ["protocol=6", 0],
    ["protocol=7&client=js", 0],
    ["protocol=8", 0],
    ["", 1],
  ])("of %p receives a refusal as the close frame and %i error events", (query, count) => {
    const client = new TestCluster({ maxConnections: 0 }).connect({ query });
    const { code, reason: message } = client.closed ?? {};
    expect(code).toBeWithin(4004, 4009);
    expect(client.take()).toEqual(
      Array.from({ length: count }, () => ({ event: "pusher:error", data: { code, message } })),
    );
  });

  test.each([4, 5, 6, 7])("of protocol %i is accepted", (protocol) => {
    expect(new TestCluster().connect({ query: `protocol=${protocol}` }).closed).toBeNull();
  });

  test.each([
    [CLIENT, 7],
    [`${CLIENT}&protocol=`, 7],
    ["version=2&client=js", 7],
    ["client=js&version=1.12.2", 5],
  ])("with %p and no protocol speaks what that version of a client does", (query, protocol) => {
    expect(new TestCluster().connect({ query }).connection?.protocol).toBe(protocol);
  });

  test("of a page of another origin is refused with 4009", () => {
    const network = new TestCluster({ allowedOrigins: ["https://*.example.com"] });
    expect(network.connect({ origin: "https://a.example.com" }).closed).toBeNull();
    expect(network.connect({ origin: "https://example.org" }).closed?.code).toBe(4009);
    expect(network.connect({ origin: null }).closed?.code).toBe(4009);
  });
});

describe("the limit of connections", () => {
  test("counts connections of an application, subscribed or not, and has room again when a client leaves", () => {
    const network = new TestCluster({ maxConnections: 2 });
    const first = network.connect();
    network.connect();
    expect(network.connect().closed?.code).toBe(4004);
    first.disconnects();
    first.disconnects();
    expect(network.connect().closed).toBeNull();
    expect(network.connect().closed?.code).toBe(4004);
  });

  test("of the cluster counts the connections of all applications", () => {
    const network = new TestCluster();
    const other = applicationConfig({ id: "other", appId: "4", key: "other" });
    network.cluster.configure({ maxConnections: 2, applications: [applicationConfig(), other] });
    network.connect();
    network.connect({ path: "/app/other" });
    expect(network.connect().closed?.code).toBe(4004);
    expect(network.connect({ path: "/app/other" }).closed?.code).toBe(4004);
    expect(network.cluster.connectionCount).toBe(2);
  });

  test("closes the newest connections with 4200 when it is lowered", () => {
    const network = new TestCluster();
    const clients = Array.from({ length: 5 }, () => network.connected());
    network.configure({ maxConnections: 3 });
    expect(codes(clients)).toEqual([undefined, undefined, undefined, 4200, 4200]);
    expect(clients[4]?.closed?.reason).toBe("Server is going away, please reconnect");
    expect(clients[4]?.take()).toEqual([]);
  });

  test("of the cluster closes the newest connections of all applications when it is lowered", () => {
    const network = new TestCluster();
    const other = applicationConfig({ id: "other", appId: "4", key: "other" });
    const applications = [applicationConfig(), other];
    network.cluster.configure({ maxConnections: 10, applications });
    const clients = [
      network.connect({ path: "/app/other" }),
      network.connect(),
      network.connect({ path: "/app/other" }),
      network.connect(),
    ];
    network.cluster.configure({ maxConnections: 2, applications });
    expect(codes(clients)).toEqual([undefined, undefined, 4200, 4200]);
  });

  test("closes no more connections than necessary when it is raised again meanwhile", async () => {
    const network = new TestCluster();
    const clients = Array.from({ length: 300 }, () => network.connected());
    network.configure({ maxConnections: 10 });
    network.configure({ maxConnections: 200 });
    // This takes as many steps as the first change, and begins later.
    await spreadOut(clients, () => undefined);
    expect(network.cluster.connectionCount).toBe(200);
  });
});

describe("a new configuration", () => {
  test("has its origins read once, and open connections checked only when these are others", () => {
    const network = new TestCluster();
    let patternReads = 0;
    const allowedOrigins = new Proxy(["example.com"], {
      get: (patterns, key) => {
        if (key === "0") patternReads += 1;
        return Reflect.get(patterns, key) as unknown;
      },
    });
    network.configure({ allowedOrigins });
    const readsOnce = patternReads;
    const { connection } = network.connect({ origin: "https://example.com" });
    expect(network.connect({ origin: "https://example.org" }).closed?.code).toBe(4009);
    expect(patternReads).toBe(readsOnce);
    let checks = 0;
    Object.defineProperty(connection, "origin", { get: () => void (checks += 1) });
    network.configure({ allowedOrigins: ["example.com"], pingIntervalSeconds: 7 });
    expect(checks).toBe(0);
    network.configure({ allowedOrigins: ["example.com", "example.org"] });
    expect(checks).toBe(1);
  });

  test("closes only connections whose origin is no longer allowed", () => {
    const network = new TestCluster();
    const allowed = network.connect({ origin: "https://example.com" });
    const refused = network.connect({ origin: "https://example.org" });
    const without = network.connect();
    network.configure({ allowedOrigins: ["example.com"] });
    expect(codes([allowed, refused, without])).toEqual([undefined, 4009, 4009]);
    expect(refused.closed?.reason).toBe("Origin not allowed");
  });

  test("closes the connections of a removed application with 4001, and no others", () => {
    const network = new TestCluster({}, { id: "other", appId: "4", key: "other" });
    const stays = network.connected();
    const goes = network.connect({ path: "/app/other" });
    goes.says("pusher:subscribe", { channel: "news" });
    network.configure({});
    expect(codes([stays, goes])).toEqual([undefined, 4001]);
    expect(network.connect({ path: "/app/other" }).closed?.code).toBe(4001);
    expect(network.cluster.applicationByAppId("4")).toBeUndefined();
    expect(network.takeEvents().at(-1)).toEqual(["channel_vacated", "news"]);
    expect(stays.take()).toEqual([]);
  });

  test("with another key lets new clients in by the new key alone", () => {
    const network = new TestCluster();
    const open = network.connected();
    network.configure({ key: "new" });
    expect(network.connect().closed?.code).toBe(4001);
    expect(network.connect({ path: "/app/new" }).closed).toBeNull();
    expect(open.closed).toBeNull();
  });

  test("with other secrets holds for open connections, and the former secret is valid until it expires", () => {
    const network = new TestCluster();
    const client = network.connected();
    const auth = (secret: string, channel: string) =>
      `${KEY}:${hmacHex(secret, `${client.socketId}:${channel}`)}`;
    const subscribes = (secret: string, channel: string) => {
      client.says("pusher:subscribe", { channel, auth: auth(secret, channel) });
      return client.takeNames();
    };
    network.configure(rotated(new Date(Date.now() + 60_000).toISOString()));
    expect(subscribes(SECRET, "private-a")).toEqual(["pusher_internal:subscription_succeeded"]);
    expect(subscribes("new", "private-b")).toEqual(["pusher_internal:subscription_succeeded"]);
    network.configure(rotated(new Date(Date.now() - 1_000).toISOString()));
    expect(subscribes(SECRET, "private-c")).toEqual(["pusher:subscription_error"]);
    expect(subscribes("new", "private-d")).toEqual(["pusher_internal:subscription_succeeded"]);
    expect(network.cluster.applicationByAppId("3")?.validSecrets()).toEqual(["new"]);
  });

  test("turns client events and counts on and off for open connections", () => {
    jest.useFakeTimers();
    const network = new TestCluster({ clientEventsEnabled: false });
    const [sender, other] = [network.connected(), network.connected()];
    for (const client of [sender, other]) client.subscribes("private-room");
    sender.take();
    other.take();
    sender.says("client-hello", {}, "private-room");
    expect(sender.takeNames()).toEqual(["pusher:error"]);
    network.configure({ clientEventsEnabled: true, subscriptionCountEnabled: true });
    sender.says("client-hello", {}, "private-room");
    expect(other.takeNames()).toEqual(["client-hello"]);
    sender.disconnects();
    jest.advanceTimersByTime(SMALL_COUNT_INTERVAL_MS);
    jest.useRealTimers();
    expect(other.takeNames()).toEqual(["pusher_internal:subscription_count"]);
  });
});

describe("a cluster that closes", () => {
  test("closes all connections with 4200 and refuses new clients with the same code", async () => {
    const network = new TestCluster();
    const clients = Array.from({ length: 120 }, () => network.connected());
    const closing = network.cluster.close();
    const isSpread = clients.some(({ closed }) => closed === null);
    expect(network.connect().closed?.code).toBe(4200);
    await closing;
    expect(isSpread).toBeTrue();
    expect(new Set(codes(clients))).toEqual(new Set([4200]));
    expect(network.cluster.connectionCount).toBe(0);
  });
});

/** Replaces the usual secret by another, while the usual secret stays valid for a while. */
function rotated(expiresAt: string) {
  return {
    secrets: [
      { secret: "new", expiresAt: null },
      { secret: SECRET, expiresAt },
    ],
  };
}

function codes(clients: TestClient[]): (number | undefined)[] {
  return clients.map(({ closed }) => closed?.code);
}

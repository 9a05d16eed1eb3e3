// Clients whose cache sleeps and wakes again, with the session state that they had set up.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { until } from "../support/pilvi/pilvi.ts";
import type { RawRedis } from "../support/wire/redis-raw.ts";
import { commandBytes } from "../../src/gateway/redis/replies.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";

const LOGIN = commandBytes("AUTH", PASSWORD);

/** Uses the cache for longer than a second. @returns the most milliseconds that may have passed between two uses. */
async function useForSeconds(client: RawRedis): Promise<number> {
  const beganMs = performance.now();
  let [formerMs, longestMs] = [beganMs, 0];
  while (formerMs - beganMs < 2_500) {
    const sentMs = performance.now();
    await client.ask(commandBytes("DBSIZE"), ":0\r\n");
    longestMs = Math.max(longestMs, performance.now() - formerMs);
    formerMs = sentMs;
  }
  return longestMs;
}

const KEPT = new Set(["name", "flags", "db", "user", "resp", "lib-name", "lib-ver"]);

/** The engine's description of a client, without the parts that differ between connections. */
async function infoOf(client: RawRedis): Promise<string[]> {
  const info = await client.ask(commandBytes("CLIENT", "INFO"), "\n\r\n");
  return info.split(/\s+/).filter((field) => KEPT.has(field.split("=")[0] ?? ""));
}

describe.each(ENGINES)("%s", (name) => {
  let cache: RedisGateway;
  beforeEach(async () => {
    cache = await RedisGateway.create(name);
  });
  afterEach(async () => {
    await cache.close();
    expect(cache.faults).toEqual([]);
  });

  /** A client that has logged in and has sent a command that only the engine can answer. */
  async function attached(...commands: string[][]): Promise<RawRedis> {
    const client = await cache.dial();
    const texts = commands.map((args) => commandBytes(...args));
    await client.ask(
      LOGIN + texts.join("") + commandBytes("DBSIZE") + commandBytes("ECHO", "ready"),
      "ready\r\n",
    );
    return client;
  }

  test("keeps ioredis connected, with its database and name", async () => {
    const client = new Redis(cache.url, { db: 3, connectionName: "worker" });
    const events: string[] = [];
    for (const event of ["close", "reconnecting", "error", "end"]) client.on(event, () => events.push(event));
    await client.set("key", "value");
    expect(cache.wakes).toEqual([
      {
        user: "default",
        database: "3",
        application: "worker",
        address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      },
    ]);
    for (let round = 0; round < 3; round++) {
      await cache.sleep();
      expect(await client.ping()).toBe("PONG");
      expect(cache.state).toBe("asleep");
      expect(await client.get("key")).toBe("value");
      expect(await client.client("GETNAME")).toBe("worker");
    }
    expect(events).toEqual([]);
    expect(cache.wakes.length).toBe(4);
    client.disconnect();
  });

  test("disconnects a client whose name is too long to be captured, and keeps the others", async () => {
    const other = await attached(["CLIENT", "SETNAME", "x".repeat(256)]);
    // The engine runs by now, and itself accepts any name.
    const named = [await attached(), await attached()];
    await named[0]?.ask(commandBytes("CLIENT", "SETNAME", "x".repeat(257)), "+OK\r\n");
    await named[1]?.ask(commandBytes("CLIENT", "SETNAME", "x".repeat(30_000_000)), "+OK\r\n");
    await cache.sleep();
    await until("both were parted", () => named.every(({ isEnded }) => isEnded));
    expect(await other.ask(commandBytes("CLIENT", "GETNAME"), "x\r\n")).toBe(
      `$256\r\n${"x".repeat(256)}\r\n`,
    );
    expect(cache.state).toBe("asleep");
  });

  test.each([["CLIENT SETNAME"], ["HELLO 3 SETNAME"]])(
    "takes no long name by %s while it sleeps",
    async (command) => {
      const client = await cache.dial();
      const words = commandBytes(...command.split(" "), "x".repeat(257));
      const answer = await client.ask(LOGIN + words, "bytes.\r\n");
      expect(answer).toBe("+OK\r\n-ERR Client names cannot have more than 256 bytes.\r\n");
      expect(cache.state).toBe("asleep");
    },
  );

  test.each([2, 3] as const)("keeps node-redis connected in RESP%d", async (RESP) => {
    const client = createClient({ url: cache.url, RESP, database: 2, name: "web" });
    const events: string[] = [];
    for (const event of ["error", "reconnecting", "end"]) client.on(event, () => events.push(event));
    await client.connect();
    expect(cache.wakes).toEqual([]);
    await client.hSet("hash", "field", "value");
    await cache.sleep();
    expect(await client.ping()).toBe("PONG");
    expect(cache.wakes.length).toBe(1);
    expect({ ...(await client.hGetAll("hash")) }).toEqual({ field: "value" });
    expect(await client.clientGetName()).toBe("web");
    expect(events).toEqual([]);
    client.destroy();
  });

  test("keeps Bun's client connected", async () => {
    const client = new Bun.RedisClient(cache.url, { autoReconnect: false });
    await client.set("key", "value");
    await cache.sleep();
    expect(await client.get("key")).toBe("value");
    client.close();
  });

  test("restores everything that the engine describes of a client", async () => {
    const client = await cache.dial();
    const commands = [
      ["HELLO", "3", "AUTH", "app", PASSWORD, "SETNAME", "first"],
      ["CLIENT", "SETINFO", "LIB-NAME", "library"],
      ["CLIENT", "SETINFO", "LIB-VER", "1.2"],
      ["DBSIZE"],
      // Commands from here on go to the engine.
      ["CLIENT", "SETNAME", "second=x"],
      ["SELECT", "9"],
      ["ECHO", "ready"],
    ];
    await client.ask(commands.map((args) => commandBytes(...args)).join(""), "ready\r\n");
    const before = await infoOf(client);
    expect(before).toContain("name=second=x");
    expect(before).toContain("db=9");
    expect(before).toContain("user=app");
    await cache.sleep();
    expect(await infoOf(client)).toEqual(before);
    await cache.sleep();
    await client.ask(commandBytes("SELECT", "4") + commandBytes("HELLO", "2"), "modules\r\n*0\r\n");
    expect(cache.state).toBe("asleep");
    expect(await infoOf(client)).toEqual(
      before.map((field) => field.replace("db=9", "db=4").replace("resp=3", "resp=2")),
    );
  });

  /**
   * The commands of a client, with the engine's replies to it, or the engine's description of it where it gets no
   * reply.
   */
  const states: [string[][], { receives: string } | { info: RegExp }][] = [
    [[["SUBSCRIBE", "channel"]], { receives: ":1\r\n" }],
    [
      [
        ["HELLO", "3"],
        ["SSUBSCRIBE", "channel"],
      ],
      { receives: "channel\r\n:1\r\n" },
    ],
    [[["MULTI"]], { receives: "+OK\r\n" }],
    [
      [
        ["HELLO", "3"],
        ["CLIENT", "TRACKING", "ON"],
      ],
      { receives: "*0\r\n+OK\r\n" },
    ],
    [[["RESET"]], { receives: "+RESET\r\n" }],
    [[["SCAN", "0"]], { receives: "*2\r\n$1\r\n0\r\n*0\r\n" }],
    [[["BLPOP", "list", "0"]], { info: /blocked_clients:1\r/ }],
    [[["CLIENT", "REPLY", "OFF"]], { info: /cmdstat_client\|reply:calls=1,/ }],
    [[["CLIENT", "REPLY", "SKIP"]], { info: /cmdstat_client\|reply:calls=1,/ }],
    // Redis 7.0 lacks one of these commands and does not describe the other; there the framer decides.
    ...(name === "redis"
      ? []
      : [
          [[["WATCH", "key"]], { receives: "+OK\r\n" }] as [string[][], { receives: string }],
          [[["CLIENT", "NO-TOUCH", "ON"]], { receives: "+OK\r\n" }] as [string[][], { receives: string }],
          [[["CLIENT", "CAPA", "redirect"]], { receives: "+OK\r\n" }] as [string[][], { receives: string }],
          [[["READONLY"]], { receives: "+OK\r\n" }] as [string[][], { receives: string }],
        ]),
  ];

  test.each(states)("keeps no client whose state cannot be replayed: %j", async (commands, sign) => {
    const client = await attached();
    const text = commands.map((args) => commandBytes(...args)).join("");
    if ("receives" in sign) await client.ask(text, sign.receives);
    else client.write(text);
    if ("info" in sign) await until("the engine has read it", async () => sign.info.test(await engineInfo()));
    await cache.stop();
    await until("the client is closed", () => client.isEnded);
  });

  async function engineInfo(): Promise<string> {
    const raw = await cache.dialEngine();
    return raw.askAll(LOGIN + commandBytes("INFO", "everything") + commandBytes("QUIT"));
  }

  test("is not stopped while a client watches a key or is in a transaction", async () => {
    const client = await attached(["WATCH", "key"]);
    expect(await cache.drain(100)).toBe("busy");
    cache.update({ state: "running" });
    await client.ask(commandBytes("UNWATCH") + commandBytes("MULTI"), "+OK\r\n+OK\r\n");
    expect(await cache.drain(100)).toBe("busy");
    cache.update({ state: "running" });
    await client.ask(commandBytes("EXEC"), "*0\r\n");
    expect(await cache.drain()).toBe("drained");
    await cache.stop();
    expect(await client.ask(commandBytes("PING"), "+PONG\r\n")).toBe("+PONG\r\n");
  });

  test("answers the following commands in order, wherever they are cut", async () => {
    const commands = [
      ["PING", "1"],
      ["SELECT", "5"],
      ["SET", "k", "v"],
      ["PING", "2"],
      ["GET", "k"],
      ["ECHO", "end"],
    ];
    const text = commands.map((args) => commandBytes(...args)).join("");
    const expected = "+OK\r\n$1\r\n1\r\n+OK\r\n+OK\r\n$1\r\n2\r\n$1\r\nv\r\n$3\r\nend\r\n";
    for (let at = 0; at < text.length; at += 7) {
      const client = await cache.dial();
      client.write(LOGIN + text.slice(0, at));
      await (await cache.dial()).askAll(commandBytes("QUIT"));
      expect(await client.ask(text.slice(at), "end\r\n")).toBe(expected);
      client.close();
      await cache.sleep();
    }
  });

  test("is not kept awake by a pool that reconnects and pings", async () => {
    await cache.wake();
    cache.update({ sleepAfterSeconds: 0.3 });
    const pool = new Bun.RedisClient(cache.url, { autoReconnect: false });
    await until("nobody uses it", async () => {
      await pool.ping();
      const other = await cache.dial();
      await other.ask(LOGIN + commandBytes("SELECT", "2"), "+OK\r\n+OK\r\n");
      expect(cache.sessions).toBeGreaterThanOrEqual(2);
      other.close();
      return cache.count("idle") > 0;
    });
    pool.close();
  });

  test.each(["ID", "INFO", "LIST"])("is woken by CLIENT %s, and not kept awake by it", async (subcommand) => {
    const client = await cache.dial();
    const command = commandBytes("CLIENT", subcommand);
    await client.ask(LOGIN + command + commandBytes("ECHO", "answered"), "answered\r\n");
    expect(cache.wakes.length).toBe(1);
    cache.update({ sleepAfterSeconds: 0.3 });
    await until("nobody uses it", async () => {
      await client.ask(command + commandBytes("ECHO", "answered"), "answered\r\n");
      return cache.count("idle") > 0;
    });
    client.close();
  });

  test("is kept awake by commands that use it", async () => {
    await cache.wake();
    const client = await attached();
    cache.update({ sleepAfterSeconds: 1 });
    // A busy machine may itself leave the cache idle for so long.
    await until("it was used all the time", async () => {
      const reports = cache.count("idle");
      if ((await useForSeconds(client)) >= 1_000) return false;
      expect(cache.count("idle")).toBe(reports);
      return true;
    });
  });

  test("limits the seconds before a login, and no idle client after it", async () => {
    const client = await cache.dial();
    await client.ask(commandBytes("PING"), "required.\r\n");
    const [{ deadlines } = { deadlines: [] }] = cache.clients;
    expect(deadlines).toEqual([10_000]);
    await client.ask(LOGIN, "+OK\r\n");
    await client.ask(commandBytes("RESET"), "+RESET\r\n");
    expect(deadlines).toEqual([10_000, null, 10_000]);
    client.close();
  });
});

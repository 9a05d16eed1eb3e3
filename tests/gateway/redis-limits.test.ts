// A cache that takes no more connections: further clients get the engine's own error, and the served clients go on.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { until } from "../support/pilvi/pilvi.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";
import type { RawRedis } from "../support/wire/redis-raw.ts";

const MOST = 5;
const AUTH = `AUTH app ${PASSWORD}\r\n`;
const TOO_MANY = "ERR max number of clients reached";

describe.each(ENGINES)("%s", (name) => {
  let cache: RedisGateway;
  beforeEach(async () => {
    cache = await RedisGateway.create(name, [`maxclients ${MOST}`]);
  });
  afterEach(async () => {
    await cache.close();
    expect(cache.faults).toEqual([]);
  });

  /** As many clients as the engine takes, each with a connection to it. */
  async function fill(): Promise<RawRedis[]> {
    const clients: RawRedis[] = [];
    for (let count = 0; count < MOST; count += 1) {
      const client = await cache.dial();
      expect(await client.ask(`${AUTH}ECHO here\r\nEXISTS key\r\n`, ":0\r\n")).toStartWith("+OK\r\n");
      clients.push(client);
    }
    return clients;
  }

  test.each([
    ["a login", AUTH, ""],
    ["a login with a command", `${AUTH}EXISTS key\r\n`, "+OK\r\n"],
  ])("beyond its limit %s gets the engine's own error", async (_, said, before) => {
    const clients = await fill();
    const late = await cache.dial();
    expect(await late.askAll(said)).toBe(`${before}-${TOO_MANY}\r\n`);
    for (const client of clients) expect(await client.ask("EXISTS key\r\n", "\r\n")).toBe(":0\r\n");
  });

  test("a client library gets the error as well, and connects when another client has left", async () => {
    const [first, ...others] = await fill();
    const options = { lazyConnect: true, retryStrategy: () => null };
    const refused = new Redis(cache.url, options);
    const complaint = new Promise((resolve) => refused.once("error", resolve));
    refused.connect().catch(() => undefined);
    expect(String(await complaint)).toContain(TOO_MANY);
    first?.close();
    await until("there is room again", async () => {
      const late = await cache.dial();
      return await late.ask(`${AUTH}EXISTS key\r\n`, ":0\r\n").then(Boolean, () => false);
    });
    for (const client of others) expect(await client.ask("EXISTS key\r\n", "\r\n")).toBe(":0\r\n");
  });

  test("of the clients that wake it together only the client beyond the limit is refused", async () => {
    const clients = await Promise.all(Array.from({ length: MOST + 1 }, () => cache.dial()));
    const answers = await Promise.allSettled(
      clients.map((client) => client.ask(`${AUTH}EXISTS key\r\n`, ":0\r\n")),
    );
    const refusals = answers.flatMap((answer) =>
      answer.status === "rejected" ? [String(answer.reason)] : [],
    );
    expect(refusals).toEqual([expect.stringContaining(TOO_MANY)]);
    expect(cache.wakes.length).toBe(1);
  });
});

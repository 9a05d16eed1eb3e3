// Rotations of a cache's password, while its clients are connected and it sleeps.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { commandBytes } from "../../src/gateway/redis/replies.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";
import { until } from "../support/pilvi/pilvi.ts";
import type { RawRedis } from "../support/wire/redis-raw.ts";

const NEW_PASSWORD = "new-password";
const REFUSED = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
const HOUR_MS = 3_600_000;

describe.each(ENGINES)("%s", (name) => {
  let cache: RedisGateway;
  beforeEach(async () => {
    cache = await RedisGateway.create(name);
  });
  afterEach(async () => {
    setSystemTime();
    await cache.close();
    expect(cache.faults).toEqual([]);
  });

  async function loggedIn(password = PASSWORD): Promise<RawRedis> {
    const client = await cache.dial();
    await client.ask(commandBytes("AUTH", "app", password), "+OK\r\n");
    return client;
  }

  function rotateWithGrace(): void {
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    cache.rotate(NEW_PASSWORD, { password: PASSWORD, expiresAt });
  }

  test("ends parked connections of the former password, and keeps the others", async () => {
    rotateWithGrace();
    const former = await loggedIn();
    const other = await loggedIn(NEW_PASSWORD);
    cache.rotate(NEW_PASSWORD);
    await until("the client of the former password is closed", () => former.isEnded);
    expect(await other.ask(commandBytes("PING"), "+PONG\r\n")).toBe("+PONG\r\n");
    expect(cache.wakes).toEqual([]);
  });

  test.each([["PING"], ["SELECT 3"], ["DBSIZE"]])(
    "answers no %s of a parked connection when the grace of its password is over",
    async (command) => {
      rotateWithGrace();
      const client = await loggedIn();
      await client.ask(commandBytes("PING"), "+PONG\r\n");
      setSystemTime(Date.now() + 2 * HOUR_MS);
      expect(await client.askAll(commandBytes(...command.split(" ")))).toEndWith(REFUSED);
      expect(cache.wakes).toEqual([]);
    },
  );

  test("takes the new password of a parked connection when the grace of its former one is over", async () => {
    rotateWithGrace();
    const client = await loggedIn();
    setSystemTime(Date.now() + 2 * HOUR_MS);
    await client.ask(commandBytes("AUTH", "app", NEW_PASSWORD), "+OK\r\n");
    expect(await client.ask(commandBytes("DBSIZE"), ":0\r\n")).toBe(":0\r\n");
  });

  test.each([
    [commandBytes("AUTH", "app", NEW_PASSWORD), "+OK\r\n"],
    [`auth app "${NEW_PASSWORD}"\r\n`, "+OK\r\n"],
    [commandBytes("HELLO", "3", "AUTH", "app", NEW_PASSWORD), "modules\r\n*0\r\n"],
  ])("goes on with the password that a connected client has proved last: %j", async (login, answer) => {
    rotateWithGrace();
    const client = await loggedIn();
    await client.ask(commandBytes("DBSIZE"), ":0\r\n");
    await client.ask(login, answer);
    await cache.sleep();
    cache.rotate(NEW_PASSWORD);
    expect(await client.ask(commandBytes("DBSIZE"), ":0\r\n")).toBe(":0\r\n");
    expect(cache.wakes.length).toBe(2);
  });

  test("goes on with the right password of a connected client after a wrong one", async () => {
    const client = await loggedIn();
    await client.ask(commandBytes("DBSIZE"), ":0\r\n");
    await client.ask(commandBytes("AUTH", "app", "wrong"), "disabled.\r\n");
    await cache.sleep();
    expect(await client.ask(commandBytes("DBSIZE"), ":0\r\n")).toBe(":0\r\n");
  });

  test("goes on as the user whose password a connected client has proved last", async () => {
    const client = await loggedIn();
    await client.ask(commandBytes("DBSIZE"), ":0\r\n");
    await client.ask(commandBytes("AUTH", PASSWORD), "+OK\r\n");
    await cache.sleep();
    expect(await client.ask(commandBytes("CLIENT", "INFO"), "\n\r\n")).toContain(" user=default ");
  });

  test("ends a connected client of the former password when the cache falls asleep", async () => {
    rotateWithGrace();
    const client = await loggedIn();
    await client.ask(commandBytes("DBSIZE"), ":0\r\n");
    cache.rotate(NEW_PASSWORD);
    expect(await client.ask(commandBytes("DBSIZE"), ":0\r\n")).toBe(":0\r\n");
    await cache.sleep();
    await until("the client is closed", () => client.isEnded);
  });
});

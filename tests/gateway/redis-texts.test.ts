// The protocol handler answers as the engine does, byte by byte: asleep, awake, and compared with the engine itself.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RawRedis } from "../support/wire/redis-raw.ts";
import { commandBytes } from "../../src/gateway/redis/replies.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";

const LOGIN = commandBytes("AUTH", PASSWORD);
const LOGIN_3 = commandBytes("HELLO", "3", "AUTH", "app", PASSWORD);
const QUIT = commandBytes("QUIT");

/**
 * Commands before the login. Unknown commands and wrong counts are left out: the engine's error is longer there than
 * the gateway's.
 */
const BEFORE_LOGIN = [
  ["AUTH"],
  ["AUTH", "a", "b", "c"],
  ["AUTH", "wrong"],
  ["auth", "app", "wrong"],
  ["AUTH", "nobody", PASSWORD],
  ["AUTH", "pilvi", PASSWORD],
  ["GET", "k"],
  ["PING"],
  ["CLIENT", "SETNAME", "x"],
  ["HELLO"],
  ["HELLO", "2"],
  ["HELLO", "3", "SETNAME", "x"],
  ["HELLO", "4"],
  ["HELLO", "x"],
  ["HELLO", "4", "AUTH", "app", PASSWORD],
  ["HELLO", "3", "AUTH", "app"],
  ["HELLO", "3", "AUTH", "app", "wrong"],
  ["HELLO", "3", "AUTH", "app", PASSWORD, "SETNAME", "a b"],
  ["RESET"],
  ["RESET", "x"],
  ["QUIT", "x"],
];

const AFTER_LOGIN = [
  ["PING"],
  ["ping", "message"],
  ["PING", "a", "b"],
  ["ECHO", "\u00ff\r\n"],
  ["ECHO"],
  ["SELECT", "15"],
  ["SELECT", "16"],
  ["SELECT", "-1"],
  ["SELECT", "x"],
  ["SELECT", "01"],
  ["SELECT", "4294967296"],
  ["SELECT", "99999999999999999999"],
  ["SELECT"],
  ["CLIENT"],
  ["CLIENT", "GETNAME"],
  ["CLIENT", "SETNAME", "a b"],
  ["CLIENT", "SETNAME", "worker"],
  ["client", "getname"],
  ["CLIENT", "GETNAME", "x"],
  ["CLIENT", "SETNAME"],
  ["CLIENT", "SETNAME", ""],
  ["CLIENT", "GETNAME"],
  ["CLIENT", "SETINFO", "LIB-NAME", "library"],
  ["CLIENT", "SETINFO", "lib-ver", "1.0"],
  ["CLIENT", "SETINFO", "lib-name", "a b"],
  ["CLIENT", "SETINFO", "LIB-NAME", "a b"],
  ["CLIENT", "SETINFO", "Lib-Ver", "1 0"],
  ["CLIENT", "SETINFO", "other", "1"],
  ["CLIENT", "SETINFO", "lib-name"],
  ["CLIENT", "MAINT_NOTIFICATIONS", "ON"],
  ["AUTH", "app", PASSWORD],
  ["HELLO"],
  ["HELLO", "3"],
  ["CLIENT", "GETNAME"],
  ["HELLO", "2", "SETNAME", "n"],
  ["CLIENT", "GETNAME"],
  ["HELLO", "2", "SETNAME"],
  ["HELLO", "3", "FOO"],
  ["HELLO", "5"],
  ["RESET"],
  ["PING"],
];

/** Bytes that are sent as they are; the connection is closed after each. */
const BROKEN = [
  "*11\r\n",
  "*10\r\n$16385\r\n",
  "*abc\r\n",
  "*3000000000\r\n",
  "*01\r\n",
  "*1\r\nPING\r\n",
  "*1\r\n$-1\r\n",
  "*1\r\n$abc\r\n",
  "*1\r\n$600000000\r\n",
  'PING "abc\r\n',
  "x".repeat(65_600),
  `*${"1".repeat(65_600)}`,
  `*1\r\n$${"1".repeat(65_600)}`,
  "Host: example.org\r\n",
  "POST / HTTP/1.1\r\n",
];

/** The number of a connection is the only difference. */
function withoutIds(text: string): string {
  return text.replaceAll(/(\$2\r\nid\r\n):\d+/g, "$1:N");
}

async function received(dial: () => Promise<RawRedis>, text: string): Promise<string> {
  return withoutIds(await (await dial()).askAll(text));
}

describe.each(ENGINES)("%s", (name) => {
  let cache: RedisGateway;
  beforeAll(async () => {
    cache = await RedisGateway.create(name);
  });
  afterAll(() => cache.close());

  async function expectSame(texts: string[]): Promise<void> {
    const asleep = [];
    for (const text of texts) asleep.push(await received(() => cache.dial(), text));
    expect(cache.state).toBe("asleep");
    await cache.wake();
    for (const [index, text] of texts.entries()) {
      const bare = await received(() => cache.dialEngine(), text);
      expect({ text, received: asleep[index] ?? "" }).toEqual({ text, received: bare });
      expect({ text, received: await received(() => cache.dial(), text) }).toEqual({ text, received: bare });
    }
    await cache.sleep();
    expect(cache.faults).toEqual([]);
    expect(cache.wakes).toEqual([]);
  }

  test("answers clients before their login as the engine does", () =>
    expectSame(BEFORE_LOGIN.map((args) => commandBytes(...args) + QUIT)));

  test("answers in RESP2 as the engine does", () =>
    expectSame(AFTER_LOGIN.map((args) => LOGIN + commandBytes(...args) + QUIT)));

  test("answers in RESP3 as the engine does", () =>
    expectSame(AFTER_LOGIN.map((args) => LOGIN_3 + commandBytes(...args) + QUIT)));

  test("answers all commands in one chunk as the engine does", () =>
    expectSame(
      [LOGIN, LOGIN_3].map(
        (login) => login + AFTER_LOGIN.map((args) => commandBytes(...args)).join("") + QUIT,
      ),
    ));

  test("answers bytes of another protocol as the engine does", () => expectSame(BROKEN));

  test("answers lines of a terminal as the engine does", () =>
    expectSame([
      "PING\r\nQUIT\r\n",
      `AUTH ${PASSWORD}\nping\nECHO "a b"\r\n\r\nquit\n`,
      `AUTH "${PASSWORD}"\r\nHELLO 3 SETNAME 'x'\r\nCLIENT GETNAME\r\nQUIT\r\n`,
    ]));

  test("gives the same answers wherever the bytes are cut", async () => {
    const commands = [
      ["HELLO", "3", "AUTH", "app", PASSWORD],
      ["PING"],
      ["SELECT", "3"],
      ["CLIENT", "GETNAME"],
      ["QUIT"],
    ];
    const text = commands.map((args) => commandBytes(...args)).join("");
    const whole = await received(() => cache.dial(), text);
    for (let at = 1; at < text.length; at++) {
      const client = await cache.dial();
      client.write(text.slice(0, at));
      // The first half has arrived when another connection, which came later, has been answered.
      await (await cache.dial()).askAll(QUIT);
      expect(withoutIds(await client.askAll(text.slice(at)))).toBe(whole);
    }
    expect(cache.wakes).toEqual([]);
  });
});

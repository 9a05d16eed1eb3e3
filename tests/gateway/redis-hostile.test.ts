// Clients before their login, floods and random bytes: they wake no cache, and the protocol handler never fails.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sha256Hex } from "../../src/lib/secrets.ts";
import { commandBytes } from "../../src/gateway/redis/replies.ts";
import { PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";

let cache: RedisGateway;
beforeEach(async () => {
  cache = await RedisGateway.create("valkey");
});
afterEach(async () => {
  await cache.close();
  expect(cache.faults).toEqual([]);
});

describe("a cache that sleeps", () => {
  afterEach(() => {
    expect(cache.wakes).toEqual([]);
    expect(cache.state).toBe("asleep");
  });

  test("is not woken by wrong passwords, and limits them for each connection", async () => {
    const wrong = commandBytes("AUTH", "wrong");
    const received = await (await cache.dial()).askAll(wrong.repeat(10_000));
    expect(received.length).toBeLessThan(20_000);
    expect(
      received.replaceAll("-WRONGPASS invalid username-password pair or user is disabled.\r\n", ""),
    ).toBe("");
    expect(cache.count("users")).toBeGreaterThan(0);
  });

  test("answers a client before its login only up to a limit", async () => {
    const client = await cache.dial();
    const received = await client.askAll("PING\r\n".repeat(100_000));
    expect(received.length).toBeLessThan(20_000);
  });

  test("accepts a password that was changed after the gateway learned of it", async () => {
    cache.onUsers = () => {
      cache.update({ users: [{ name: "default", verifier: sha256Hex("new") }] });
    };
    const client = await cache.dial();
    expect(await client.askAll(`${commandBytes("AUTH", "new")}QUIT\r\n`)).toBe("+OK\r\n+OK\r\n");
  });

  test("refuses every login without a verifier", async () => {
    cache.update({ users: [{ name: "default", verifier: "" }] });
    for (const password of ["", "0".repeat(64), PASSWORD]) {
      const client = await cache.dial();
      const received = await client.askAll(`${commandBytes("AUTH", password)}QUIT\r\n`);
      expect(received).toStartWith("-WRONGPASS ");
    }
  });

  test("answers a client without TLS that TLS is required", async () => {
    cache.policy = { certificates: null, mustStartTls: true };
    const received = await (await cache.dial()).askAll(commandBytes("AUTH", PASSWORD));
    expect(received).toBe("-ERR This cache takes connections with TLS only.\r\n");
  });

  test("closes a TLS connection where the cache has no TLS", async () => {
    expect(await (await cache.dial()).askAll("\u0016\u0003\u0001\u0000\u0005hello")).toBe("");
  });

  test("survives clients that leave in the middle", async () => {
    const text = commandBytes("AUTH", PASSWORD) + commandBytes("PING");
    for (let end = 0; end < text.length; end++) {
      const client = await cache.dial();
      client.write(text.slice(0, end));
      client.close();
    }
  });

  test("survives random bytes before the login", async () => {
    const pieces = [
      "*",
      "$",
      "1",
      "2",
      "4",
      "16384",
      "\r\n",
      "\n",
      "AUTH",
      "HELLO",
      "PING",
      "GET",
      "-1",
      "x",
      '"',
      "\u0000",
      "\u00ff",
    ];
    for (let round = 0; round < 500; round++) {
      const count = 1 + Math.floor(Math.random() * 30);
      const text = Array.from(
        { length: count },
        () => pieces[Math.floor(Math.random() * pieces.length)],
      ).join("");
      const client = await cache.dial();
      client.write(text);
      client.close();
    }
  });
});

test("commands named like members of JavaScript objects are left to the engine", async () => {
  for (const name of [
    "function Object() { [native code] }",
    "[object Object]",
    "function toString() { [native code] }",
  ]) {
    const client = await cache.dial();
    const said = commandBytes("AUTH", PASSWORD) + commandBytes(name, "a");
    expect(await client.ask(said, "beginning with: 'a' \r\n")).toStartWith(
      `+OK\r\n-ERR unknown command '${name}'`,
    );
  }
});

test("a cache that cannot start answers with the reason, as an error that may be retried", async () => {
  cache.update({ state: "failed", lastError: "The disk of the host is full." });
  const text = commandBytes("AUTH", PASSWORD) + commandBytes("GET", "k") + commandBytes("GET", "k");
  expect(await (await cache.dial()).askAll(text)).toBe("+OK\r\n-LOADING The disk of the host is full.\r\n");
});

test("a password that the engine no longer accepts ends the connection", async () => {
  const client = await cache.dial();
  await client.ask(commandBytes("AUTH", "old"), "disabled.\r\n");
  cache.update({ users: [{ name: "default", verifier: sha256Hex("old") }] });
  const received = await client.askAll(commandBytes("AUTH", "old") + commandBytes("DBSIZE"));
  expect(received).toBe("+OK\r\n-WRONGPASS invalid username-password pair or user is disabled.\r\n");
});

test("a large command goes to the engine before all of it has arrived", async () => {
  const client = await cache.dial();
  const value = "x".repeat(5_000_000);
  const text = commandBytes("AUTH", PASSWORD) + commandBytes("SET", "k", value) + commandBytes("STRLEN", "k");
  expect(await client.ask(text, ":5000000\r\n")).toBe("+OK\r\n+OK\r\n:5000000\r\n");
  const large = commandBytes("ECHO", value);
  const received = await client.ask(large, `${value.slice(-20)}\r\n`);
  expect(received.length).toBe(value.length + "$5000000\r\n\r\n".length);
});

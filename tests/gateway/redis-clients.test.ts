// The clients that customers use, at a sleeping cache and at a running cache, in clear and with TLS.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { runProgram } from "../support/clients/programs.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const folder = new CertificateFolder();
let context: TlsCertificates;
let ca: string;

beforeAll(async () => {
  const pair = await folder.newPair("cache");
  ca = pair.cert;
  context = new TlsCertificates(pair);
});

afterAll(() => folder.remove());

describe.each(ENGINES)("%s", (name) => {
  let cache: RedisGateway;
  beforeEach(async () => {
    cache = await RedisGateway.create(name);
    cache.policy = { certificates: context, mustStartTls: false };
  });
  afterEach(async () => {
    await cache.close();
    expect(cache.faults).toEqual([]);
  });

  describe.each([false, true])("with TLS: %p", (isSecure) => {
    beforeEach(() => {
      cache.policy = { ...cache.policy, mustStartTls: isSecure };
    });

    test("ioredis wakes the cache and is served", async () => {
      const client = new Redis(cache.url, isSecure ? { tls: { ca } } : {});
      expect(await client.set("key", "x".repeat(300_000))).toBe("OK");
      await cache.sleep();
      expect((await client.get("key"))?.length).toBe(300_000);
      const second = client.duplicate();
      expect(await second.exists("key")).toBe(1);
      second.disconnect();
      client.disconnect();
    });

    test("node-redis wakes the cache and is served", async () => {
      const client = createClient({
        username: "app",
        password: PASSWORD,
        socket: isSecure
          ? { host: "127.0.0.1", port: cache.port, tls: true, ca }
          : { host: "127.0.0.1", port: cache.port },
      });
      await client.connect();
      await client.set("key", "value");
      await cache.sleep();
      expect(await client.get("key")).toBe("value");
      client.destroy();
    });

    test("the command line wakes the cache and is served", async () => {
      const cli = cache.program(`${name}-cli`);
      const tls = isSecure ? ["--tls", "--cacert", folder.file("cache.crt")] : [];
      const run = (...args: string[]) =>
        runProgram(
          [cli.path, "-p", String(cache.port), "-a", PASSWORD, "--no-auth-warning", ...tls, ...args],
          cli.env,
        );
      expect(await run("PING")).toBe("PONG\n");
      expect(cache.wakes).toEqual([]);
      expect(await run("-3", "-n", "4", "SET", "key", "value")).toBe("OK\n");
      expect(await run("-n", "4", "GET", "key")).toBe("value\n");
      expect(cache.wakes.length).toBe(1);
    });
  });

  test("a subscriber receives what other clients publish", async () => {
    const subscriber = new Redis(cache.url);
    const publisher = new Redis(cache.url);
    const received = new Promise((resolve) => {
      subscriber.on("message", (channel, message) => resolve([channel, message]));
    });
    await subscriber.subscribe("news");
    expect(await publisher.publish("news", "hello")).toBe(1);
    expect(await received).toEqual(["news", "hello"]);
    subscriber.disconnect();
    publisher.disconnect();
  });

  test("a hundred clients at once wake the cache once, and once more after it has slept", async () => {
    const clients = Array.from({ length: 100 }, () => new Bun.RedisClient(cache.url));
    const counts = await Promise.all(clients.map((client) => client.incr("count")));
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    await cache.sleep();
    await Promise.all(clients.map((client) => client.incr("count")));
    expect(await clients[0]?.get("count")).toBe("200");
    expect(cache.wakes.length).toBe(2);
    expect(cache.count("woken")).toBe(2);
    for (const client of clients) client.close();
  });
});

// The key browser's cursors at a cache that falls asleep between two pages.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { withCache, type CacheConnection } from "../../src/resources/caches/keys/connection.ts";
import { scanKeys } from "../../src/resources/caches/keys/scan.ts";
import { readValue } from "../../src/resources/caches/keys/value.ts";
import { PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";

const COUNT = 10;
const NAMES = Array.from({ length: 1_000 }, (_, index) => `key:${index}`);

let cache: RedisGateway;

beforeAll(async () => {
  cache = await RedisGateway.create("valkey");
  await browse(({ ask }) =>
    ask([
      ["MSET", ...NAMES.flatMap((name) => [name, "1"])],
      ["HSET", "hash", ...NAMES.flatMap((name) => [name, "1"])],
      ["SADD", "set", ...NAMES],
      ["RPUSH", "list", ...NAMES],
    ]),
  );
});
afterAll(() => cache.close());

/** Does work at a connection of the key browser, as the API does for each request. */
async function browse<T>(work: (connection: CacheConnection) => Promise<T>): Promise<T> {
  const login = {
    hostname: "127.0.0.1",
    port: cache.port,
    username: "app",
    password: PASSWORD,
    isTls: false,
  };
  return await withCache(login, new AbortController().signal, work);
}

/** The cursor after the next part of all keys, or of a key's value. */
async function page(key: string | null, cursor?: string): Promise<string | undefined> {
  const query = { count: COUNT, encoding: "utf8" as const, ...(cursor !== undefined && { cursor }) };
  const document = await browse(async (connection) =>
    key === null ? await scanKeys(connection, query) : await readValue(connection, Buffer.from(key), query),
  );
  return document?.meta.cursor ?? undefined;
}

test.each([[null], ["hash"], ["set"]])(
  "goes on in the same start, and is refused in the next: %p",
  async (key) => {
    const second = await page(key, await page(key));
    expect(second).toBeString();
    await cache.sleep();
    await expect(page(key, second)).rejects.toMatchObject({
      status: 422,
      errors: { cursor: [expect.stringContaining("Begin without it.")] },
    });
    expect(await page(key)).toBeString();
  },
);

test("a cursor that names no start is refused too, and 0 begins", async () => {
  await expect(page(null, "17")).rejects.toMatchObject({ status: 422 });
  expect(await page(null, "0")).toBeString();
});

test("a place in a list outlasts a sleep", async () => {
  const second = await page("list");
  await cache.sleep();
  expect([second, await page("list", second)]).toEqual(["10", "20"]);
});

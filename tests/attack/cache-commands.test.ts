// Commands that fork, stop a cache for all its clients, or lift its limits: a customer may use none of them, directly
// or in a script.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import commands from "./data/cache-commands.json";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

describe.each([
  ["platform_valkey", "valkey-flex-250mb"],
  ["hosted_redis", "250mb"],
])("a cache of %s refuses", (type, size) => {
  let cache: CacheResource;
  let client: Bun.RedisClient;
  beforeAll(async () => {
    cache = await pilvi.createCache({ name: "attacked", type, size });
    const { hostname, port, password = "" } = cache.attributes.connection;
    client = new Bun.RedisClient(`redis://app:${password}@${hostname}:${port}`);
  });
  afterAll(() => client.close());

  test.each(commands.map((command) => [command.join(" "), command] as const))("%s", async (_, command) => {
    const [name = "", ...args] = command;
    const before = pilvi.enginePids(cache.id);
    await expect(client.send(name, args)).rejects.toThrow(/NOPERM|no permissions|not allowed/);
    const inScript = `return redis.call(${command.map((word) => `'${word}'`).join(",")})`;
    await expect(client.send("EVAL", [inScript, "0"])).rejects.toThrow();
    expect(await client.ping()).toBe("PONG");
    expect(pilvi.enginePids(cache.id)).toEqual(before);
  });
});

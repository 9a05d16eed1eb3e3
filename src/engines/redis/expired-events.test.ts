// A real cache publishes which keys expire, for libraries that wait for that, and nothing for each command on keys.
import { afterEach, expect, test } from "bun:test";
import { cacheOf, closeCaches, WITHOUT_LOG, withClient } from "../../../tests/support/engines/lone-cache.ts";
import { RawRedis } from "../../../tests/support/wire/redis-raw.ts";

afterEach(closeCaches);

test.each(["redis", "valkey"] as const)("a %s publishes the keys that expire alone", async (name) => {
  const cache = await cacheOf(name, WITHOUT_LOG);
  await cache.start();
  const listener = await RawRedis.open(cache.context.paths.socket);
  await listener.ask("AUTH moi\r\nPSUBSCRIBE __key*__:*\r\n", ":1\r\n");
  await withClient(cache, async (client) => {
    await client.set("deleted", "value");
    await client.send("EXPIRE", ["deleted", "1000"]);
    await client.del("deleted");
    await client.send("SET", ["ended", "value", "PX", "1"]);
  });
  // The first message is about the last key.
  expect(await listener.ask("", "ended\r\n")).toContain("$22\r\n__keyevent@0__:expired\r\n$5\r\nended\r\n");
  listener.close();
});

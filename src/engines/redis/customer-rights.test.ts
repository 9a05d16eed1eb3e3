// A customer of a real cache can list its clients, as libraries of queues do, and learns no secret of Pilvi's own.
import { afterEach, describe, expect, test } from "bun:test";
import { cacheOf, closeCaches, WITHOUT_LOG, withClient } from "../../../tests/support/engines/lone-cache.ts";
import { RawRedis } from "../../../tests/support/wire/redis-raw.ts";
import { asAdmin } from "./admin.ts";

afterEach(closeCaches);

describe.each(["redis", "valkey"] as const)("a customer of a %s", (name) => {
  test("finds the workers of a queue by the names of their connections", async () => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    const worker = await RawRedis.open(cache.context.paths.socket);
    await worker.ask("AUTH moi\r\nCLIENT SETNAME bull:bWFpbHM=\r\n", "+OK\r\n+OK\r\n");
    const list = await withClient(cache, (client) => client.send("CLIENT", ["LIST"]));
    worker.close();
    expect(String(list)).toMatch(/^id=\d+ .* name=bull:bWFpbHM= .* user=default /m);
  });

  test("learns of the host's own connection that it is there, and not its password", async () => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    const { context } = cache;
    const list = await asAdmin(context, async (admin) => {
      await admin.ping();
      return await withClient(cache, (client) => client.send("CLIENT", ["LIST"]));
    });
    const own = String(list)
      .split("\n")
      .find((line) => line.includes(" user=pilvi "));
    expect(own).toMatch(/ addr=\.\.\/run\/engine\.sock:0 .* name= .* cmd=ping /);
    expect(String(list)).not.toContain(context.adminPassword);
  });
});

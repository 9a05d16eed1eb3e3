// Real caches that serve and answer no PING: full of clients that never log in, or unable to save.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheOf, closeCaches, WITHOUT_LOG } from "../../../tests/support/engines/lone-cache.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { asAdmin, isReady } from "./admin.ts";

afterEach(closeCaches);

test.each(["redis", "valkey"] as const)("a full %s is ready, and is not taken for hung", async (name) => {
  const cache = await cacheOf(name, WITHOUT_LOG);
  await cache.start();
  expect(await isReady(cache.context)).toBe(true);
  await asAdmin(cache.context, (client) => client.send("CONFIG", ["SET", "maxclients", "3"]));
  const port = cache.context.spec.exposure.port ?? 0;
  const socket = { data: () => {} };
  const crowd = await Promise.all(
    Array.from({ length: 4 }, () => Bun.connect({ hostname: "127.0.0.1", port, socket })),
  );
  // A refused connection may be gone before its reason is read, so the host asks again.
  await until("it is ready", () => isReady(cache.context));
  for (const each of crowd) each.terminate();
  await cache.stop("SIGKILL");
  expect(await isReady(cache.context)).toBe(false);
});

test.each(["redis", "valkey"] as const)(
  "a %s that cannot save is ready, since it can be read",
  async (name) => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    const { context } = cache;
    // A file cannot come in the place of a folder.
    mkdirSync(join(context.paths.dataDir, "dump.rdb/in-the-way"), { recursive: true });
    await asAdmin(context, (client) => client.send("BGSAVE", []));
    await until("the save has failed", async () => {
      const info = String(await asAdmin(context, (client) => client.send("INFO", ["persistence"])));
      return info.includes("rdb_last_bgsave_status:err");
    });
    await expect(asAdmin(context, (client) => client.ping())).rejects.toThrow("MISCONF");
    expect(await isReady(context)).toBe(true);
  },
);

test.each(["redis", "valkey"] as const)("a %s that runs a long script is ready", async (name) => {
  const cache = await cacheOf(name, WITHOUT_LOG);
  await cache.start();
  const { context } = cache;
  await asAdmin(context, (client) => client.send("CONFIG", ["SET", "lua-time-limit", "1"]));
  const script = asAdmin(context, (client) => client.send("EVAL", ["while true do end", "0"]));
  const ended = script.catch((error: unknown) => String(error));
  await until("it is busy", async () => {
    const answer = asAdmin(context, (client) => client.ping());
    return (await answer.catch(String)).includes("BUSY");
  });
  expect(await isReady(context)).toBe(true);
  await asAdmin(context, (client) => client.send("SCRIPT", ["KILL"]));
  expect(await ended).toContain("Script killed");
});

// A real cache whose places are all taken by clients that never log in.
import { afterEach, expect, test } from "bun:test";
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

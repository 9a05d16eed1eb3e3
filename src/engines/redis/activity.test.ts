// The reason that keeps a real cache awake names the client, with its address where it has one.
import { afterEach, describe, expect, test } from "bun:test";
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import { cacheOf, closeCaches, WITHOUT_LOG } from "../../../tests/support/engines/lone-cache.ts";
import type { LoneEngine } from "../../../tests/support/engines/lone-engine.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { RawRedis } from "../../../tests/support/wire/redis-raw.ts";
import { blockingActivity } from "./admin.ts";

afterEach(closeCaches);

/** Connects with a name and subscribes to a channel. @param to a path or a port. */
async function subscribe(to: string | number): Promise<RawRedis> {
  const client = await RawRedis.open(to);
  await client.ask("AUTH moi\r\nCLIENT SETNAME worker\r\nSUBSCRIBE channel\r\n", ":1\r\n");
  return client;
}

describe.each(["redis", "valkey"] as const)("a %s", (name) => {
  async function started(): Promise<LoneEngine<CacheSpec>> {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    return cache;
  }

  test("names no address of a client at its unix socket, as those of the gateway are", async () => {
    const { context } = await started();
    const client = await subscribe(context.paths.socket);
    expect(await blockingActivity(context)).toBe(
      'The client "worker" of the user "default" is subscribed to channels.',
    );
    client.close();
    await until("nothing is reported", async () => (await blockingActivity(context)) === null);
  });

  test("names the address of a client at its port", async () => {
    const { context } = await started();
    const client = await subscribe(context.spec.exposure.port ?? 0);
    expect(await blockingActivity(context)).toMatch(
      /^The client "worker" of the user "default" at 127\.0\.0\.1:\d+ is subscribed to channels\.$/,
    );
    client.close();
  });
});

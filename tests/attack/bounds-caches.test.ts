// Customers of caches whose clients have longer names than the host reads: their owner learns of it, and other customers
// wake as fast as ever.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import { BoundsVictim, expanded } from "../support/load/bounds-victim.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";
import { RawRedis } from "../support/wire/redis-raw.ts";
import attacks from "./data/bounds-caches.json";

const LONGEST_ANSWER = 5_000;
const REPORTED = "The names that the cache's clients gave themselves are too long";

let victim: BoundsVictim;

beforeAll(async () => {
  victim = await BoundsVictim.begin();
});
afterAll(async () => await victim.pilvi.close());

/** Logs in, at an engine that runs. */
async function openCache({ attributes: { connection } }: CacheResource): Promise<RawRedis> {
  const client = await RawRedis.open(connection.port ?? 0);
  await client.ask(`AUTH ${connection.username} ${connection.password}\r\nDBSIZE\r\n`, "+OK\r\n:0\r\n");
  return client;
}

/** The bytes of a command (RESP). */
function bytesOf(command: string[]): string {
  const words = command.map((word) => expanded(word)).map((word) => `$${word.length}\r\n${word}\r\n`);
  return `*${words.length}\r\n${words.join("")}`;
}

describe.each([
  { type: "platform_valkey", size: "valkey-flex-250mb" },
  { type: "hosted_redis", size: "250mb" },
])("a cache of the type $type", (attributes) => {
  test.each(attacks)("$name", async ({ clients: count, command, isReported }) => {
    const before = await victim.wakes();
    const { pilvi } = victim;
    const cache = await pilvi.createCache({ ...attributes, uses_hibernation: true });
    const clients: RawRedis[] = [];
    for (let n = 0; n < count; n++) clients.push(await openCache(cache));
    const bytes = bytesOf(command);
    // A cache disconnects clients when all of them together take more memory than it has for them.
    await Promise.all(clients.map((client) => client.ask(bytes, "+OK\r\n").catch(() => "")));
    const sleeper = new Sleeper(pilvi, cache);
    const { status, body } = await sleeper.suspend();
    expect(JSON.stringify(body).length).toBeLessThan(LONGEST_ANSWER);
    if (isReported) {
      expect([status, body.message]).toEqual([409, expect.stringContaining(REPORTED)]);
      const { meta } = (await pilvi.api<{ data: CacheResource }>("GET", `/caches/${cache.id}`)).body.data;
      expect(meta.last_error).toContain(REPORTED);
    }
    const beside = await victim.wakes(() => sleeper.suspend());
    for (const client of clients) client.close();
    await pilvi.deleteCache(cache.id);
    await victim.expectUnharmed(before, beside);
  });
});

// Caches without a host for the tests of their backups: keys of every kind, and a client that writes all the time.
import { randomBytes } from "node:crypto";
import { expect } from "bun:test";
import type { CacheSpec, EvictionPolicy } from "../../../src/contracts/instance-spec.ts";
import { cacheSpec } from "../../../src/drivers/test-support.ts";
import { redis } from "../../../src/engines/redis/index.ts";
import { valkey } from "../../../src/engines/valkey/index.ts";
import { freePort } from "../pilvi/ports.ts";
import { installedEngine, LoneEngine, type MadeBackup } from "./lone-engine.ts";

const engines = { redis, valkey };
export const WITH_LOG: EvictionPolicy = "noeviction";
export const WITHOUT_LOG: EvictionPolicy = "allkeys-lru";

/** Random, so that the engine cannot compress it. */
const LARGE = randomBytes(12 * 1024 ** 2).toString("base64");

const open: LoneEngine<CacheSpec>[] = [];

/** Ends all caches of a test. */
export async function closeCaches(): Promise<void> {
  for (const cache of open.splice(0)) await cache.close();
}

export async function cacheOf(
  name: "redis" | "valkey",
  evictionPolicy: EvictionPolicy,
  password = "moi",
): Promise<LoneEngine<CacheSpec>> {
  const spec = cacheSpec(freePort(), password, { engines: [name], evictionPolicy });
  const cache = new LoneEngine(engines[name], await installedEngine(name), spec);
  open.push(cache);
  return cache;
}

function clientOf({ context }: LoneEngine<CacheSpec>, password = "moi"): Bun.RedisClient {
  const { port } = context.spec.exposure;
  return new Bun.RedisClient(`redis://default:${password}@127.0.0.1:${port}`, { autoReconnect: false });
}

export async function withClient<T>(
  cache: LoneEngine<CacheSpec>,
  work: (client: Bun.RedisClient) => Promise<T>,
  password?: string,
): Promise<T> {
  const client = clientOf(cache, password);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** Writes numbered keys until it is stopped. */
export class Writer {
  /** The time of each acknowledged write, by its number. */
  readonly acknowledged: number[] = [];
  readonly #client: Bun.RedisClient;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(cache: LoneEngine<CacheSpec>) {
    this.#client = clientOf(cache);
    this.#done = this.#write();
  }

  async #write(): Promise<void> {
    for (let number = 0; !this.#isOver; number += 1) {
      await this.#client.set(`written:${number}`, `value ${number}`);
      this.acknowledged.push(Date.now());
    }
  }

  /** How many writes were acknowledged before the instant. */
  before(instant: string): number {
    return this.acknowledged.filter((at) => at < Date.parse(instant)).length;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
    this.#client.close();
  }
}

/** Keys of every kind. */
export async function fill(client: Bun.RedisClient): Promise<void> {
  await client.set("text", "ä\u0000ö");
  await client.send("HSET", ["hash", "field", "value"]);
  await client.send("RPUSH", ["list", "1", "2", "3"]);
  await client.send("ZADD", ["sorted", "1.5", "member"]);
  await client.send("XADD", ["stream", "1-1", "field", "value"]);
  await client.set("large", LARGE);
  await client.send("SET", ["expiring", "value", "PXAT", "4102444800000"]);
  await client.send("SET", ["expired", "value", "PX", "1"]);
}

export async function expectFilled(client: Bun.RedisClient): Promise<void> {
  expect(await client.get("text")).toBe("ä\u0000ö");
  expect(await client.send("HGET", ["hash", "field"])).toBe("value");
  expect(await client.send("LRANGE", ["list", "0", "-1"])).toEqual(["1", "2", "3"]);
  expect(await client.send("ZSCORE", ["sorted", "member"])).toBe(1.5);
  expect(await client.send("XLEN", ["stream"])).toBe(1);
  expect((await client.get("large")) === LARGE).toBe(true);
  expect(await client.send("PEXPIRETIME", ["expiring"])).toBe(4102444800000);
  expect(await client.get("expired")).toBeNull();
}

/** Restores a backup into a new cache with another password, and starts it. */
export async function restored(
  name: "redis" | "valkey",
  backup: MadeBackup,
  evictionPolicy: EvictionPolicy,
): Promise<LoneEngine<CacheSpec>> {
  const cache = await cacheOf(name, evictionPolicy, "other");
  await cache.restore(backup);
  await cache.start();
  return cache;
}

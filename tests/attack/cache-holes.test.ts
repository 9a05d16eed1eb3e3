// Holes of caches that upstream has closed, tried on the installed engines: a flood before the login, and scripts that
// reach other clients.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { Redis } from "ioredis";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import holes from "./data/cache-holes.json";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";

/** How much is written to the socket at a time. */
const CHUNK_BYTES = 65_000;

interface Flood {
  /** Commands whose answers an engine with the hole keeps: some 40 bytes for 13 bytes of an unknown command. */
  repeated: string;
  bytes: number;
  /** Far less than an engine with the hole keeps, far more than an engine needs that closes the connection. */
  maxGrowthBytes: number;
}

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(async () => {
  await pilvi.close();
});

function clientOf({ attributes }: CacheResource): Redis {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  return new Redis({ host, port, username, password, retryStrategy: null as never });
}

function memoryOf(id: string): number {
  const status = readFileSync(`/proc/${pilvi.enginePids(id)[0]}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/**
 * Sends the repeated commands of a flood without reading an answer, until all are sent or the engine closes.
 * @returns by how much the engine grew at most.
 */
async function send(flood: Flood, port: number, grownBytes: () => number): Promise<number> {
  const chunk = Buffer.from(flood.repeated.repeat(Math.ceil(CHUNK_BYTES / flood.repeated.length)));
  let most = 0;
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  socket.pause();
  try {
    await until("the flood has come to its end", () => {
      if (!socket.destroyed && socket.writableLength < chunk.length) socket.write(chunk);
      most = Math.max(most, grownBytes());
      const isSent = socket.bytesWritten >= flood.bytes && socket.writableLength === 0;
      return socket.destroyed || isSent || most > flood.maxGrowthBytes;
    });
    return most;
  } finally {
    socket.destroy();
  }
}

describe.each([
  { type: "platform_valkey", size: "valkey-flex-250mb", uses_hibernation: false },
  { type: "hosted_redis", size: "250mb" },
])("a cache of the type $type that listens by itself", (attributes) => {
  let cache: CacheResource;

  beforeAll(async () => {
    cache = await pilvi.createCache(attributes);
    expect(cache.meta.engine?.warning).toBeNull();
  });

  test.each(holes.floods)("$name", async (flood) => {
    const before = memoryOf(cache.id);
    const grown = () => memoryOf(cache.id) - before;
    const { port } = cache.attributes.connection;
    expect(await send(flood, port, grown)).toBeLessThan(flood.maxGrowthBytes);
  });

  test.each(holes.scripts)("$name", async ({ script }) => {
    const attacker = clientOf(cache);
    await attacker.eval(script, 0).catch(() => null);
    const victim = clientOf(cache);
    expect(await victim.eval("return {('x'):upper(), #'four', rawget(_G, 'poisoned')}", 0)).toEqual(["X", 4]);
    attacker.disconnect();
    victim.disconnect();
  });
});

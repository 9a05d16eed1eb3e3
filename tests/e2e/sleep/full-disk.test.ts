// A cache that logs its keys, on a disk that has become full: it stays awake with the keys that the disk lacks.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { fill, mountSmallDisk } from "../../support/pilvi/small-disk.ts";

interface Document {
  data: CacheResource;
  message?: string;
}

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(async () => {
  await pilvi.close();
});

async function suspend({ id }: CacheResource): Promise<{ status: number; message: string | undefined }> {
  const { status, body } = await pilvi.api<Document>("POST", `/caches/${id}/suspend`);
  return { status, message: body.message };
}

function clientOf({ attributes }: CacheResource): Redis {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  return new Redis({ host, port, username, password, retryStrategy: null as never });
}

// Only root may mount.
test.skipIf(process.getuid?.() !== 0)("keeps what was acknowledged, and notifies its owner", async () => {
  const cache = await pilvi.createCache({ uses_hibernation: true, eviction_policy: "noeviction" });
  expect(await suspend(cache)).toMatchObject({ status: 200 });
  const folder = join(pilvi.dataDir, "instances", cache.id, "data", "appendonlydir");
  const unmount = mountSmallDisk(folder);
  try {
    const client = clientOf(cache);
    await client.set("before", "yes");
    const filler = fill(folder);
    const pids = pilvi.enginePids(cache.id);
    // The last block can still take some bytes.
    expect(await client.set("acknowledged", "x".repeat(10_000))).toBe("OK");
    const message = "The cache cannot write its keys to the disk.";
    expect(await suspend(cache)).toEqual({ status: 409, message: expect.stringContaining(message) });
    expect(pilvi.enginePids(cache.id)).toEqual(pids);
    await until("the owner sees the reason", async () => {
      return (await pilvi.untilStatus(cache.id, "available")).meta.last_error === message;
    });

    rmSync(filler);
    await until("it sleeps", async () => (await suspend(cache)).status === 200);
    expect(await client.strlen("acknowledged")).toBe(10_000);
    expect((await pilvi.untilStatus(cache.id, "available")).meta.last_error).toBeNull();
    client.disconnect();
  } finally {
    unmount();
  }
});

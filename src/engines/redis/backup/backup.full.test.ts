// Backups of a Valkey and a Redis, made hot and cold and restored, with and without a log.
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  cacheOf,
  closeCaches,
  expectFilled,
  fill,
  restored,
  WITH_LOG,
  withClient,
  WITHOUT_LOG,
  Writer,
} from "../../../../tests/support/engines/lone-cache.ts";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import type { EvictionPolicy } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";

afterEach(closeCaches);

describe.each(["valkey", "redis"] as const)("%s", (name) => {
  const policies: [source: EvictionPolicy, target: EvictionPolicy][] = [
    [WITH_LOG, WITH_LOG],
    [WITHOUT_LOG, WITHOUT_LOG],
    [WITH_LOG, WITHOUT_LOG],
    [WITHOUT_LOG, WITH_LOG],
  ];

  test.each(policies)(
    "a hot backup of a cache with %s, restored with %s, has all acknowledged writes before its end",
    async (source, target) => {
      const cache = await cacheOf(name, source);
      await cache.start();
      await withClient(cache, fill);
      const writer = new Writer(cache);
      await until("some keys are written", () => writer.acknowledged.length > 400);
      const backup = await cache.hotBackup();
      await until(
        "a key is written after the backup",
        () => writer.before(new Date().toISOString()) > writer.before(backup.facts.completedAt) + 1,
      );
      await writer.stop();
      expect(backup.facts).toMatchObject({ format: "tar", users: ["default"], databases: [] });
      expect(existsSync(join(cache.folder.data, "dump.rdb"))).toBe(source === WITHOUT_LOG);

      const copy = await restored(name, backup, target);
      await withClient(
        copy,
        async (client) => {
          await expectFilled(client);
          const written = writer.before(backup.facts.completedAt);
          expect(written).toBeGreaterThan(200);
          for (let number = 0; number < written; number += 1)
            expect(await client.get(`written:${number}`)).toBe(`value ${number}`);
        },
        "other",
      );
      // The keys are on the disk of the new cache itself, not only in its memory.
      await copy.stop("SIGKILL");
      await copy.start();
      await withClient(copy, expectFilled, "other");
      await expect(withClient(copy, (client) => client.ping())).rejects.toThrow("WRONGPASS");
    },
  );

  test.each(policies)("a cold backup of a cache with %s is restored with %s", async (source, target) => {
    const cache = await cacheOf(name, source);
    await cache.start();
    await withClient(cache, fill);
    await cache.stop();
    const before = readdirSync(cache.folder.data, { recursive: true }).sort();
    const backup = await cache.coldBackup();
    expect(readdirSync(cache.folder.data, { recursive: true }).sort()).toEqual(before);
    const copy = await restored(name, backup, target);
    await withClient(copy, expectFilled, "other");
  });

  test("a verification loads all keys and counts them", async () => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    await withClient(cache, fill);
    const backup = await cache.hotBackup();
    const copy = await cacheOf(name, WITHOUT_LOG);
    await copy.restore(backup);
    const verify = (timeoutMs: number) =>
      copy.withRestore(backup, async (context) => await copy.backup.verify(context, timeoutMs));
    expect(await verify(60_000)).toEqual({ checked: 7, isComplete: true, faults: [] });
    expect(await verify(0)).toEqual({ checked: 0, isComplete: false, faults: [] });
  });

  test("a restore that was ended in the middle succeeds when it begins anew", async () => {
    const cache = await cacheOf(name, WITH_LOG);
    await cache.start();
    await withClient(cache, fill);
    await cache.stop();
    const backup = await cache.coldBackup();
    const copy = await cacheOf(name, WITH_LOG);
    const given = new AbortController();
    const restoring = copy.restore(backup, given.signal);
    await until("the engine of the restore runs", () =>
      existsSync(join(copy.folder.path, "work", "engine.sock")),
    );
    given.abort(new PublicError("The host ends."));
    await expect(restoring).rejects.toThrow("The host ends.");
    copy.clear();
    await copy.restore(backup);
    await copy.start();
    await withClient(copy, expectFilled);
  });

  test("a save that a client ends by flushing all keys is made again", async () => {
    const cache = await cacheOf(name, WITH_LOG);
    await cache.start();
    await withClient(cache, async (client) => {
      await fill(client);
      const beginning = cache.backup.begin(cache.context, "snapshot-test", new AbortController().signal);
      await client.send("FLUSHALL", []);
      await client.set("after", "kept");
      await (await beginning).close();
      const copy = await restored(name, await cache.hotBackup(), WITH_LOG);
      await withClient(copy, async (other) => expect(await other.get("after")).toBe("kept"), "other");
    });
  });

  test("a cache that has saved nothing yet has no cold backup", async () => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    await cache.stop("SIGKILL");
    await expect(cache.coldBackup()).rejects.toThrow("The cache has saved nothing since it was made.");
  });

  test.skipIf(process.getuid?.() !== 0)("a cache that cannot save says so and goes on", async () => {
    const cache = await cacheOf(name, WITH_LOG);
    await cache.start();
    chmodSync(cache.folder.data, 0o500);
    await expect(cache.hotBackup()).rejects.toThrow("The cache could not be saved");
    chmodSync(cache.folder.data, 0o700);
    await withClient(cache, async (client) => {
      await client.set("text", "value");
      expect((await cache.hotBackup()).stream.length).toBeGreaterThan(0);
    });
  });

  test("a cache that does not run has no hot backup", async () => {
    const cache = await cacheOf(name, WITH_LOG);
    await expect(cache.hotBackup()).rejects.toThrow("The cache did not answer");
  });
});

// Damaged and incomplete backups of a Valkey and a Redis, whose restore says what is wrong.
import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  cacheOf,
  closeCaches,
  fill,
  WITH_LOG,
  withClient,
  WITHOUT_LOG,
} from "../../../../tests/support/engines/lone-cache.ts";
import { RestoreFault } from "../../backup.ts";

afterEach(closeCaches);

describe.each(["valkey", "redis"] as const)("%s", (name) => {
  test("a damaged snapshot is a fault that says so", async () => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    await withClient(cache, fill);
    const { stream, facts } = await cache.hotBackup();
    const damaged = Buffer.from(stream);
    damaged.fill(0xff, 5_000_000, 5_000_016);
    const copy = await cacheOf(name, WITHOUT_LOG);
    await expect(copy.restore({ stream: damaged, facts })).rejects.toThrow(RestoreFault);
    copy.clear();
    await expect(copy.restore({ stream: damaged, facts })).rejects.toThrow("The backup is damaged");
    copy.clear();
    await copy.unpack({ stream: damaged, facts });
    const { faults } = await copy.withRestore({ stream: damaged, facts }, (context) =>
      copy.backup.verify(context, 60_000),
    );
    expect(faults).toEqual(["The backup is damaged: its keys cannot be read."]);
  });

  test.each([0, 512, 1_024, 5_000_000])("a stream that ends after %d bytes is a fault", async (bytes) => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    await withClient(cache, fill);
    const { stream, facts } = await cache.hotBackup();
    const truncated = { stream: stream.subarray(0, bytes), facts };
    const copy = await cacheOf(name, WITHOUT_LOG);
    await expect(copy.restore(truncated)).rejects.toThrow(/^The backup is (damaged|incomplete): /);
  });

  test("a log without one of its parts is a fault that names the part", async () => {
    const cache = await cacheOf(name, WITH_LOG);
    await cache.start();
    await withClient(cache, fill);
    await cache.stop();
    const backup = await cache.coldBackup();
    const copy = await cacheOf(name, WITH_LOG);
    await copy.unpack(backup);
    const part = readdirSync(join(copy.folder.data, "appendonlydir")).find((file) => file.includes(".incr."));
    await Bun.file(join(copy.folder.data, "appendonlydir", part ?? "")).delete();
    const recovering = copy.withRestore(backup, (context) => copy.backup.recover(context));
    await expect(recovering).rejects.toThrow(
      `The backup is incomplete: the part "${part}" of its log is missing.`,
    );
  });

  test("a backup of a newer version or another engine is a fault that says so", async () => {
    const cache = await cacheOf(name, WITHOUT_LOG);
    await cache.start();
    const { stream, facts } = await cache.hotBackup();
    const copy = await cacheOf(name, WITHOUT_LOG);
    const newer = { ...facts, engine: { ...facts.engine, version: "99.1.0" } };
    await expect(copy.restore({ stream, facts: newer })).rejects.toThrow(`made by ${name} 99.1.0`);
    const other = { ...facts, engine: { ...facts.engine, name: "postgres" as const } };
    await expect(copy.restore({ stream, facts: other })).rejects.toThrow("cannot take over");
  });
});

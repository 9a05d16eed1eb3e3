// Kills the shipping of a real server's log between any two changes of the archive, cuts the power, damages the source.
import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, cpSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { chainOf, gapsOf, promisedEnd } from "./chain.ts";
import { parseSegmentName } from "./segment.ts";
import { MemoryStore, SEGMENT_BYTES, type LogPostgres } from "./test-support.ts";
import {
  atLatest,
  catalogOf,
  freshLog,
  freshServer,
  reachOf,
  removeServers,
  restoreAll,
  shipAll,
  write,
} from "./test-shipping.ts";

afterEach(removeServers);

describe("an archive after the keeper was killed", () => {
  test("at any change it made is complete after the next pass", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    await shipAll(freshLog(store), server);
    const base = await server.base();
    let kills = 0;
    for (const moment of ["before", "after"] as const) {
      for (let after = 1; after <= 7; after += 1) {
        await write(server, after % 3 === 0 ? 22_000 : 5);
        const last = store.operations + after;
        store.fault = (operation, when) => {
          if (operation >= last && when === moment) throw new Error("killed");
        };
        const log = freshLog(store);
        const isKilled = await shipAll(log, server).then(
          () => false,
          () => true,
        );
        kills += isKilled ? 1 : 0;
        await expectNoLie(store);
      }
    }
    store.fault = () => undefined;
    const log = freshLog(store);
    await shipAll(log, server);
    expect(kills).toBeGreaterThan(3);
    expect(gapsOf(await catalogOf(store))).toEqual([]);
    expect(await reachOf(server, store, base)).toBe(log.watermark?.lsn as string);
  });

  test("is put right when the source has lost what was shipped in a power cut", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    const base = await server.base();
    await write(server, 5);
    await shipAll(log, server);
    await server.stop("SIGKILL");
    const kept = join(server.folder, "kept");
    cpSync(server.data, kept, { recursive: true });
    await server.run();
    await write(server, 30_000);
    await shipAll(log, server);
    await server.stop("SIGKILL");
    // The disk is as it was before these writes.
    server.putData(kept);
    const after = freshLog(store);
    await shipAll(after, server);
    await server.run();
    await write(server, 7);
    await shipAll(after, server);
    const { server: restored } = await restoreAll(server, store, base, atLatest(after));
    expect(await restored.query("select count(*)::int as n from t")).toEqual(
      await server.query("select count(*)::int as n from t"),
    );
  });

  test("is left alone when the data is older than the archive", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    await shipAll(freshLog(store), server);
    await server.stop();
    const old = readdirSync(server.log)
      .filter((name) => /^[0-9A-F]{24}$/.test(name))
      .map((name) => ({ name, bytes: readFileSync(join(server.log, name)) }));
    await server.run();
    await write(server, 80_000);
    await shipAll(freshLog(store), server);
    await server.stop();
    restoreFolder(server, old);
    const known = [...store.objects.keys()];
    await expect(freshLog(store).pass(server.log, 4)).rejects.toThrow("its data is older than the archive");
    expect([...store.objects.keys()]).toEqual(known);
  });
});

describe("damage of the source", () => {
  test("is reported, leaves a gap, and the log after it is shipped", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    await write(server, 60_000);
    await server.stop();
    const names = readdirSync(server.log).filter(
      (name) => name > (log.watermark?.segment ?? "") && name.length === 24,
    );
    const damaged = names.sort()[1] as string;
    const fd = openSync(join(server.log, damaged), "r+");
    writeSync(fd, Buffer.alloc(16, 0xaa), 0, 16, 2_000_000);
    closeSync(fd);
    await shipAll(log, server);
    expect(log.damage).toContain(damaged);
    const [gap, ...others] = gapsOf(await catalogOf(store));
    expect(others).toEqual([]);
    expect((gap?.after as string) < damaged && damaged < (gap?.before as string)).toBe(true);
  });

  test("that is a missing segment leaves a gap", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    await write(server, 60_000);
    await server.stop();
    const names = readdirSync(server.log).filter(
      (name) => name > (log.watermark?.segment ?? "") && name.length === 24,
    );
    rmSync(join(server.log, names.sort()[1] as string));
    await shipAll(log, server);
    expect(gapsOf(await catalogOf(store))).toHaveLength(1);
  });
});

function restoreFolder(server: LogPostgres, files: { name: string; bytes: Uint8Array }[]): void {
  for (const name of readdirSync(server.log)) if (/^[0-9A-F]{24}$/.test(name)) rmSync(join(server.log, name));
  for (const { name, bytes } of files) {
    const path = join(server.log, name);
    const fd = openSync(path, "w", 0o600);
    writeSync(fd, bytes);
    closeSync(fd);
    server.own(path);
  }
}

/** The watermark never names a record that is not in the archive, whatever was half done. */
async function expectNoLie(store: MemoryStore): Promise<void> {
  const catalog = await catalogOf(store);
  if (catalog.watermark === null) return;
  const segment = parseSegmentName(catalog.watermark.segment, SEGMENT_BYTES);
  const chain = segment === null ? null : chainOf(catalog, segment.timeline, segment, promisedEnd(catalog));
  expect(chain?.gap).toBeNull();
}

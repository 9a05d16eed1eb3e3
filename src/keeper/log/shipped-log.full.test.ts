// Ships the log of real servers, and restores what is there.
import { afterEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { gapsOf } from "./chain.ts";
import type { Piece } from "./objects.ts";
import { parseLsn } from "./segment.ts";
import { MemoryStore } from "./test-support.ts";
import {
  atLatest,
  catalogOf,
  inserted,
  freshLog,
  freshServer,
  PREFIX,
  reachOf,
  removeServers,
  restoreAll,
  shipAll,
  write,
} from "./test-shipping.ts";

afterEach(removeServers);

/** Changes a byte of a file, or changes it back. */
function flipByte(path: string, at: number): void {
  const fd = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, at);
  writeSync(fd, Buffer.of(byte.readUInt8() ^ 0x10), 0, 1, at);
  closeSync(fd);
}

describe("a pass", () => {
  test("ships all that was committed, and a restore reaches the very record of the watermark", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    const base = await server.base();
    for (let round = 0; round < 12; round += 1) {
      await write(server, round % 4 === 0 ? 30_000 : 3);
      expect(await log.pass(server.log, 50)).toBe("end");
      expect(parseLsn(log.watermark?.lsn ?? "")).toBeLessThan(await inserted(server));
    }
    expect(await reachOf(server, store, base)).toBe(log.watermark?.lsn as string);
    expect(gapsOf(await catalogOf(store))).toEqual([]);
  });

  test("of a log that does not change writes nothing", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await server.stop();
    await shipAll(log, server);
    // The first pass without a change moves the watermark past the change before.
    await shipAll(log, server);
    const { operations } = store;
    const before = log.watermark;
    await shipAll(log, server);
    expect(store.operations).toBe(operations);
    expect(Date.parse(log.watermark?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(before?.at ?? ""));
  });

  test("ships no more than it may, and the watermark moves only when all up to its instant is there", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    const before = log.watermark?.at;
    await write(server, 90_000);
    const startedAt = Date.now();
    expect(await log.pass(server.log, 2)).toBe("more");
    expect(log.watermark?.at).toBe(before as string);
    await shipAll(log, server);
    expect(Date.parse(log.watermark?.at ?? "")).toBeGreaterThanOrEqual(startedAt);
  });

  test("goes on over a stop, a start and a crash of the server", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    const base = await server.base();
    for (const signal of ["SIGINT", "SIGKILL", "SIGQUIT", "SIGKILL"] as const) {
      await write(server, 25_000);
      await log.pass(server.log, 2);
      await write(server, 10);
      await server.stop(signal);
      await server.run();
      await write(server, 10);
      await shipAll(log, server);
    }
    expect(log.damage).toBeNull();
    expect(await reachOf(server, store, base)).toBe(log.watermark?.lsn as string);
  });

  test("leaves a watermark with each piece, from which a keeper that starts knows how far the log is", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    for (let round = 0; round < 5; round += 1) {
      await write(server, 10);
      await log.pass(server.log, 4);
    }
    expect((await catalogOf(store)).watermark).toEqual(log.watermark);
    await store.delete(`${PREFIX}watermark.json`);
    expect((await catalogOf(store)).watermark).toEqual(log.watermark);
  });

  test("keeps the latest watermark while a segment becomes whole", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await write(server, 10);
    await shipAll(log, server);
    const before = log.watermark?.at;
    await write(server, 40_000);
    store.fault = (_, moment, name) => {
      if (moment === "before" && store.objects.has(name.replace(/\.partial.*/, "")))
        throw new Error("killed once a segment is whole");
    };
    await log.pass(server.log, 4).catch(() => null);
    store.fault = () => undefined;
    expect((await catalogOf(store)).watermark?.at).toBe(before as string);
    await shipAll(freshLog(store), server);
    expect(gapsOf(await catalogOf(store))).toEqual([]);
  });

  test("proves a whole segment again when its beginning is not what its pieces were made of", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await write(server, 1_000);
    await shipAll(log, server);
    const { segment, to } = log.archive.objects.pieces.at(-1) as Piece;
    // The server writes its last pages once more.
    const flip = () => flipByte(join(server.log, segment), to - 50_000);
    flip();
    await write(server, 40_000);
    expect(await log.pass(server.log, 4)).toBe("unsettled");
    expect(log.archive.objects.segments.has(segment)).toBe(false);
    flip();
    await shipAll(log, server);
    expect(log.archive.objects.segments.has(segment)).toBe(true);
    expect(gapsOf(await catalogOf(store))).toEqual([]);
  });

  test("puts the pieces of a segment together now and then", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    for (let count = 0; count < 80; count += 1) {
      await write(server, 1);
      await log.pass(server.log, 4);
      expect(log.archive.objects.pieces.length).toBeLessThan(34);
    }
    const listed = await store.list(PREFIX);
    expect(listed.length).toBeLessThan(40);
  });

  test("reads no link, and no file of another owner or with two names", async () => {
    const [server, store] = [await freshServer(), new MemoryStore()];
    const log = freshLog(store);
    await shipAll(log, server);
    const link = join(server.folder, "link");
    symlinkSync(server.log, link);
    await expect(log.pass(link, 4)).rejects.toThrow();
    const newest = join(server.log, log.watermark?.segment ?? "");
    await server.stop();
    renameSync(newest, `${newest}.kept`);
    symlinkSync(`${newest}.kept`, newest);
    await expect(log.pass(server.log, 4)).rejects.toThrow();
    rmSync(newest);
    copyFileSync(`${newest}.kept`, newest);
    await expect(log.pass(server.log, 4)).rejects.toThrow("not the engine's own");
  });
});

test("a log goes on over a change of its timeline", async () => {
  const [server, store] = [await freshServer(), new MemoryStore()];
  const log = freshLog(store);
  await shipAll(log, server);
  const base = await server.base();
  await write(server, 30_000);
  await shipAll(log, server);
  await server.stop();
  // A recovery in place ends on a new timeline.
  await Bun.write(join(server.data, "recovery.signal"), "");
  const recovery = ["restore_command=/bin/false", "recovery_target_timeline=current"];
  expect(await server.run(recovery)).toBe(true);
  await write(server, 30_000);
  await shipAll(log, server);
  expect(log.watermark?.segment.slice(0, 8)).toBe("00000002");
  const settings = [...atLatest(log), "recovery_target_timeline=latest"];
  const { server: restored, isReady } = await restoreAll(server, store, base, settings);
  expect(isReady).toBe(true);
  expect(await restored.query("select count(*)::int as n from t")).toEqual([{ n: 60_000 }]);
});

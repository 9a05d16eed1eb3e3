// Several targets as a single store: a target that is away, full or damaged, and a target that comes back.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { S3Server } from "../../../tests/support/s3/s3-server.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { fill, mountSmallDisk } from "../../../tests/support/pilvi/small-disk.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import {
  bytesOf,
  collect,
  freshFolder,
  keeperIn,
  PART_BYTES,
  removeFolder,
  storeBackup,
} from "../test-support.ts";
import type { Keeper, KeeperOptions } from "../keeper.ts";
import { FolderTarget } from "./folder.ts";
import { LateTarget } from "./late-target.ts";
import { S3Target } from "./s3.ts";

const ID = "cache-1";
const BYTES = bytesOf(PART_BYTES * 2 + 1_000);
const OBJECT = `archives/${ID}/log/000000010000000000000001`;

let folder: string;
let keepers: Keeper[];
let server: S3Server;

beforeEach(() => {
  folder = freshFolder("a", "b");
  keepers = [];
  server = new S3Server().start();
});

afterEach(async () => {
  server.fault = null;
  await Promise.all(keepers.map((keeper) => keeper.close()));
  await server.stop();
  removeFolder(folder);
});

async function start(options: Partial<KeeperOptions> = {}, names = ["a", "b"]): Promise<Keeper> {
  const keeper = keeperIn(folder, names, options);
  keepers.push(keeper);
  keeper.start();
  await keeper.loaded();
  return keeper;
}

/** A bucket that is given up after far longer than it takes on a busy machine. */
function bucket(): LateTarget {
  const { endpoint, credentials, bucket: name } = server;
  const access = { bucket: name, prefix: "", endpoint, region: "eu-central-1", ...credentials };
  return new LateTarget(new S3Target(access, { firstRetryMs: 1, timeoutMs: 20_000 }));
}

/** Options for a keeper with a folder and a bucket. */
function both(): Partial<KeeperOptions> {
  return { targets: [new FolderTarget(join(folder, "a")), bucket()] };
}

function has(target: string, name: string): boolean {
  return existsSync(join(folder, target, name));
}

/** Tends the targets until a condition holds; a target that failed is left alone for a while. */
async function tendUntil(keeper: Keeper, what: string, holds: () => boolean): Promise<void> {
  await until(what, async () => {
    await keeper.store.tend();
    return holds();
  });
}

describe("two folders", () => {
  test("have the same objects, byte for byte", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    for (const { name } of await keeper.store.list("archives/"))
      expect(readFileSync(join(folder, "a", name)).equals(readFileSync(join(folder, "b", name)))).toBe(true);
  });

  test("stand in for each other, part by part", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    const part = (target: string, index: number) =>
      join(folder, target, `archives/${ID}/backups/one/parts/00000${index}`);
    writeFileSync(part("a", 0), "damaged");
    rmSync(part("b", 1));
    rmSync(part("a", 2));
    expect(Buffer.compare(await collect(await keeper.archives.read(ID, "one")), BYTES)).toBe(0);
  });

  test("are both checked", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    writeFileSync(join(folder, "b", `archives/${ID}/backups/one/parts/000001`), "damaged");
    const lines = await Array.fromAsync(keeper.check());
    expect(lines).toMatchObject([
      { type: "fault", target: join(folder, "b"), name: expect.stringContaining("parts/000001") },
      { type: "sum", objects: 10, faults: 1 },
    ]);
  });
});

describe("a folder that is away", () => {
  test("holds up no other, is shown, and is caught up when it is back", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    await storeBackup(keeper, ID, "old", BYTES);
    renameSync(join(folder, "b"), join(folder, "away"));
    await storeBackup(keeper, ID, "two", BYTES);
    await keeper.archives.deleteBackup(ID, "old");
    expect(keeper.archives.state(ID)?.lastError).toBe(`The backup target ${join(folder, "b")} is not there.`);
    expect(has("b", "")).toBe(false);
    renameSync(join(folder, "away"), join(folder, "b"));
    await tendUntil(keeper, "the folder is caught up", () =>
      has("b", `archives/${ID}/backups/two/backup.json`),
    );
    expect(has("b", `archives/${ID}/backups/old`)).toBe(false);
    expect(keeper.archives.state(ID)?.lastError).toBeNull();
    const alone = await start({}, ["b"]);
    expect(Buffer.compare(await collect(await alone.archives.read(ID, "two")), BYTES)).toBe(0);
  });

  test("is caught up by a later keeper, deletions included", async () => {
    const first = await start();
    await storeBackup(first, ID, "old", BYTES);
    renameSync(join(folder, "b"), join(folder, "away"));
    await first.archives.deleteBackup(ID, "old");
    await storeBackup(first, ID, "new", BYTES);
    await first.close();
    renameSync(join(folder, "away"), join(folder, "b"));
    const next = await start();
    await tendUntil(next, "the folder is caught up", () =>
      has("b", `archives/${ID}/backups/new/backup.json`),
    );
    expect(has("a", `archives/${ID}/backups/old`) || has("b", `archives/${ID}/backups/old`)).toBe(false);
  });

  test("is not written to while an empty folder is in its place, as without its disk", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    await keeper.close();
    renameSync(join(folder, "b"), join(folder, "away"));
    mkdirSync(join(folder, "b"));
    const next = await start();
    await storeBackup(next, ID, "two", BYTES);
    expect(next.archives.state(ID)?.lastError).toContain("its disk may be missing");
    expect(has("b", "archives")).toBe(false);
  });

  test("fails a request when there is no other, and works again when it is back", async () => {
    const keeper = await start({}, ["a"]);
    renameSync(join(folder, "a"), join(folder, "away"));
    const failed = await storeBackup(keeper, ID, "one", BYTES).catch((error: unknown) => error);
    expect(failed).toMatchObject({ message: expect.stringContaining("is not there") });
    renameSync(join(folder, "away"), join(folder, "a"));
    await until("the folder is used again", async () => {
      const stored = await storeBackup(keeper, ID, "one", BYTES).catch(() => null);
      return stored !== null;
    });
    expect(Buffer.compare(await collect(await keeper.archives.read(ID, "one")), BYTES)).toBe(0);
  });
});

test.if(IS_ROOT)(
  "a full disk is named, leaves no half object, and takes backups again with space",
  async () => {
    const unmount = mountSmallDisk(join(folder, "a"));
    try {
      const keeper = await start({}, ["a"]);
      await storeBackup(keeper, ID, "one", BYTES);
      const filler = fill(join(folder, "a"));
      const failed = await storeBackup(keeper, ID, "two", BYTES).catch((error: unknown) => error);
      expect(failed).toMatchObject({ message: `The backup target ${join(folder, "a")} has no space left.` });
      expect(keeper.archives.state(ID)).toMatchObject({
        backups: [{ id: "one" }],
        lastError: expect.stringContaining("has no space left"),
      });
      rmSync(filler);
      await until("the disk is used again", async () => {
        const stored = await storeBackup(keeper, ID, "two", BYTES).catch(() => null);
        return stored !== null;
      });
      for (const backup of ["one", "two"])
        expect(Buffer.compare(await collect(await keeper.archives.read(ID, backup)), BYTES)).toBe(0);
    } finally {
      await Promise.all(keepers.splice(0).map((keeper) => keeper.close()));
      unmount();
    }
  },
);

describe("a bucket beside a folder", () => {
  test("gets the same objects, and is enough when the folder is lost", async () => {
    const keeper = await start(both());
    await storeBackup(keeper, ID, "one", BYTES);
    await keeper.close();
    rmSync(join(folder, "notes"), { recursive: true });
    mkdirSync(join(folder, "notes"));
    const alone = await start({ targets: [bucket()] });
    expect(alone.archives.state(ID)?.backups).toHaveLength(1);
    expect(Buffer.compare(await collect(await alone.archives.read(ID, "one")), BYTES)).toBe(0);
  });

  test("that hangs does not hold up the log at the folder", async () => {
    const keeper = await start(both());
    await keeper.store.tend();
    server.fault = "hangs";
    const startedAt = performance.now();
    await keeper.store.put(OBJECT, BYTES);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(has("a", OBJECT)).toBe(true);
    server.fault = null;
    // The request that hangs ends with its connection.
    await server.stop();
    server.start();
    await tendUntil(keeper, "the bucket is caught up", () => server.objects.has(OBJECT));
  });

  test("that was away gets what it lacks, the object that declares a backup complete last", async () => {
    const keeper = await start(both());
    await keeper.store.tend();
    await server.stop();
    await storeBackup(keeper, ID, "one", BYTES);
    expect(keeper.archives.state(ID)?.lastError).toContain("s3://backups does not answer");
    server.start();
    await tendUntil(keeper, "the bucket is caught up", () =>
      server.objects.has(`archives/${ID}/backups/one/backup.json`),
    );
    const names = [...server.objects.keys()];
    expect(names.at(-1)).toBe(`archives/${ID}/backups/one/backup.json`);
    expect(names.filter((name) => name.includes("/parts/"))).toHaveLength(3);
  });

  test("gets what changes every second once, with its latest content, and reads it at once", async () => {
    const keeper = await start({ targets: [bucket()] });
    await keeper.store.tend();
    const before = server.requests.get("PUT") ?? 0;
    for (let second = 1; second <= 30; second += 1) {
      await keeper.store.put(`${OBJECT}.partial`, BYTES.subarray(0, second));
      await keeper.store.put(`archives/${ID}/log/watermark.json`, BYTES.subarray(0, second));
    }
    expect(await keeper.store.get(`${OBJECT}.partial`)).toHaveLength(30);
    expect((await keeper.store.list("archives/")).map(({ name }) => name)).toContain(`${OBJECT}.partial`);
    await keeper.store.tend();
    expect((server.requests.get("PUT") ?? 0) - before).toBe(2);
    expect([...server.objects.keys()].slice(-2)).toEqual([
      `${OBJECT}.partial`,
      `archives/${ID}/log/watermark.json`,
    ]);
    await keeper.store.delete(`${OBJECT}.partial`);
    expect(server.objects.has(`${OBJECT}.partial`)).toBe(false);
  });

  test("has what waited when the keeper ends", async () => {
    const keeper = await start({ targets: [bucket()] });
    await keeper.store.put(`${OBJECT}.partial`, BYTES);
    await keeper.close();
    expect(server.objects.has(`${OBJECT}.partial`)).toBe(true);
  });
});

test("parts are written no faster than the bound", async () => {
  const keeper = await start({ bytesPerSecond: PART_BYTES * 10 }, ["a"]);
  const startedAt = performance.now();
  await storeBackup(keeper, ID, "one", bytesOf(PART_BYTES * 6));
  // The first part passes at once.
  expect(performance.now() - startedAt).toBeGreaterThan(450);
});

// Backups at folders: stored, read back, damaged in all ways, deleted, and found again by the next keeper.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { CheckLine } from "../contracts/keeper.ts";
import { BackupConflict } from "./backups/backup-store.ts";
import type { Keeper, KeeperOptions } from "./keeper.ts";
import { DamagedObject, MissingObject } from "./object-store.ts";
import {
  bytesOf,
  collect,
  facts,
  freshFolder,
  keeperIn,
  PART_BYTES,
  removeFolder,
  storeBackup,
  streamOf,
} from "./test-support.ts";

const ID = "cache-1";
const BYTES = bytesOf(PART_BYTES * 2 + 1_000);

let folder: string;
let keepers: Keeper[];

beforeEach(() => {
  folder = freshFolder("a", "b");
  keepers = [];
});

afterEach(async () => {
  await Promise.all(keepers.map((keeper) => keeper.close()));
  removeFolder(folder);
});

async function start(names = ["a"], options: Partial<KeeperOptions> = {}): Promise<Keeper> {
  const keeper = keeperIn(folder, names, options);
  keepers.push(keeper);
  keeper.start();
  await keeper.loaded();
  return keeper;
}

function pathOf(...parts: string[]): string {
  return join(folder, "a", "archives", ID, ...parts);
}

function partPath(index: number, backup = "one"): string {
  return pathOf("backups", backup, "parts", `00000${index}`);
}

async function readBack(keeper: Keeper, backup = "one"): Promise<Buffer> {
  return await collect(await keeper.archives.read(ID, backup));
}

async function checkLines(keeper: Keeper): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  for await (const line of keeper.check()) lines.push(line);
  return lines;
}

describe("a backup", () => {
  test.each([0, 1, PART_BYTES, PART_BYTES + 1, BYTES.length])(
    "of %i bytes is read back as it was",
    async (length) => {
      const keeper = await start();
      const info = await storeBackup(keeper, ID, "one", BYTES.subarray(0, length));
      expect(info).toMatchObject({
        id: "one",
        archive: ID,
        plainBytes: length,
        partCount: Math.ceil(length / PART_BYTES),
      });
      expect(Buffer.compare(await readBack(keeper), BYTES.subarray(0, length))).toBe(0);
    },
  );

  test("is known to the next keeper, with its engine and its size", async () => {
    const info = await storeBackup(await start(), ID, "one", BYTES);
    const next = await start();
    const state = next.archives.state(ID);
    expect(state).toMatchObject({ backups: [info], lastError: null, log: null });
    expect(state?.storedBytes).toBeGreaterThan(info.storedBytes);
    expect(Buffer.compare(await readBack(next), BYTES)).toBe(0);
  });

  test("does not exist before it is complete, and is completed once", async () => {
    const keeper = await start();
    expect(await faultOf(keeper.archives.complete(ID, "one", facts))).toBeInstanceOf(BackupConflict);
    await keeper.archives.store(ID, "one", streamOf(BYTES));
    expect(await faultOf(keeper.archives.read(ID, "one"))).toBeInstanceOf(MissingObject);
    const info = await keeper.archives.complete(ID, "one", facts);
    expect(await keeper.archives.complete(ID, "one", { ...facts, dataBytes: 5 })).toEqual(info);
    const again = keeper.archives.store(ID, "one", streamOf(BYTES));
    expect(await faultOf(again)).toBeInstanceOf(BackupConflict);
  });

  test("whose stream breaks off is not stored, and a shorter stream in its place is stored alone", async () => {
    const keeper = await start();
    async function* broken() {
      yield* streamOf(BYTES);
      throw new Error("the copying program failed");
    }
    expect(await faultOf(keeper.archives.store(ID, "one", broken()))).toMatchObject({
      message: "the copying program failed",
    });
    expect(await faultOf(keeper.archives.complete(ID, "one", facts))).toBeInstanceOf(BackupConflict);
    expect(keeper.archives.state(ID)?.lastError).not.toBeNull();
    const info = await storeBackup(keeper, ID, "one", BYTES.subarray(0, 10));
    expect(info.partCount).toBe(1);
    expect(readdirSync(pathOf("backups", "one", "parts"))).toEqual(["000000"]);
    expect(keeper.archives.state(ID)?.lastError).toBeNull();
  });

  test("that is deleted leaves no file", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    await keeper.archives.deleteBackup(ID, "one");
    expect(keeper.archives.state(ID)).toMatchObject({ backups: [], storedBytes: 0 });
    expect(existsSync(pathOf())).toBe(false);
    await keeper.archives.deleteBackup(ID, "one");
  });

  test("is in order of its data's moment, not of its name", async () => {
    const keeper = await start();
    for (const [backup, completedAt] of [
      ["a", "2026-11-22T14:40:11.5Z"],
      ["b", "2026-11-22T14:40:11.400001Z"],
      ["c", "2026-11-22T14:40:11Z"],
    ] as const) {
      await keeper.archives.store(ID, backup, streamOf(BYTES.subarray(0, 10)));
      await keeper.archives.complete(ID, backup, { ...facts, completedAt });
    }
    expect(keeper.archives.state(ID)?.backups.map(({ id }) => id)).toEqual(["c", "b", "a"]);
  });

  test("is a file that only the keeper can read", async () => {
    await storeBackup(await start(), ID, "one", BYTES);
    expect(statSync(partPath(0)).mode & 0o777).toBe(0o600);
    expect(statSync(pathOf("backups")).mode & 0o777).toBe(0o700);
    expect(readFileSync(partPath(0)).includes(Buffer.from(BYTES.subarray(0, 64)))).toBe(false);
  });
});

describe("damage", () => {
  const faults: [string, () => void][] = [
    ["a flipped bit in the header", () => flip(partPath(1), 20)],
    ["a flipped bit in the content", () => flip(partPath(1), 500)],
    ["a flipped bit in the tag", () => flip(partPath(1), -1)],
    ["a missing end", () => truncateSync(partPath(1), statSync(partPath(1)).size - 1)],
    ["an empty file", () => truncateSync(partPath(1), 0)],
    ["another part in its place", () => copyFileSync(partPath(0), partPath(1))],
    ["a part of another backup", () => copyFileSync(partPath(1, "two"), partPath(1))],
    ["a part of another archive", () => copyFileSync(partPath(1).replace(ID, "cache-2"), partPath(1))],
    ["a missing part", () => rmSync(partPath(1))],
  ];

  test.each(faults)("%s is found, named, and never passed on", async (_, harm) => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    await storeBackup(keeper, ID, "two", bytesOf(BYTES.length, 2));
    await storeBackup(keeper, "cache-2", "one", bytesOf(BYTES.length, 3));
    harm();
    const parts: Uint8Array[] = [];
    const reading = (async () => {
      for await (const part of await keeper.archives.read(ID, "one")) parts.push(part);
    })();
    const name = `archives/${ID}/backups/one/parts/000001`;
    expect(await faultOf(reading)).toMatchObject({ object: name });
    expect(Buffer.compare(Buffer.concat(parts), BYTES.subarray(0, PART_BYTES))).toBe(0);
    const lines = await checkLines(keeper);
    expect(lines.filter(({ type }) => type === "fault")).toMatchObject([{ name }]);
    expect(lines.at(-1)).toMatchObject({ type: "sum", faults: 1 });
    // The others are whole.
    expect(await readBack(keeper, "two")).toHaveLength(BYTES.length);
  });

  test("of the facts about a backup is shown with the archive, and hides no other backup", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    await storeBackup(keeper, ID, "two", BYTES);
    flip(pathOf("backups", "one", "backup.json"), -1);
    const state = (await start()).archives.state(ID);
    expect(state?.backups.map(({ id }) => id)).toEqual(["two"]);
    expect(state?.lastError).toContain("backups/one/backup.json is damaged");
    expect(await faultOf(readBack(keeper))).toBeInstanceOf(DamagedObject);
  });

  test("is found nowhere in what was stored", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    expect(await checkLines(keeper)).toMatchObject([{ type: "sum", objects: 5, faults: 0 }]);
  });
});

test("a keeper with another key writes nothing, and says why", async () => {
  await storeBackup(await start(), ID, "one", BYTES);
  const other = keeperIn(folder, ["a"], { key: new Uint8Array(32).fill(8), loadingTimeoutMs: 300 });
  keepers.push(other);
  other.start();
  await until("the other key is noticed", () => other.store.hasWrongKey);
  expect(await faultOf(other.loaded())).toMatchObject({ name: "WrongKey" });
  expect(other.store.lastError).toContain("was made with another key");
  expect(await faultOf(other.archives.store(ID, "two", streamOf(BYTES)))).toMatchObject({ name: "WrongKey" });
  expect(existsSync(pathOf("backups", "two"))).toBe(false);
});

test("a target of a newer Pilvi is left alone", async () => {
  await storeBackup(await start(), ID, "one", BYTES);
  const path = join(folder, "a", "pilvi-target.json");
  writeFileSync(path, readFileSync(path, "utf8").replace('"format":1', '"format":2'));
  const keeper = keeperIn(folder, ["a"], { loadingTimeoutMs: 300 });
  keepers.push(keeper);
  keeper.start();
  await until("the newer target is noticed", () => keeper.store.lastError !== null);
  expect(await faultOf(keeper.loaded())).toMatchObject({
    message: expect.stringContaining("was written by a newer Pilvi"),
  });
});

describe("what a killed keeper left", () => {
  test("of a backup that never came to be is deleted after its time, and not before", async () => {
    const keeper = await start(["a"], { leftoverMs: 0 });
    await keeper.archives.store(ID, "one", streamOf(BYTES));
    const patient = await start(["a"], { leftoverMs: 3_600_000 });
    await patient.review();
    await patient.review();
    expect(existsSync(partPath(0))).toBe(true);
    await keeper.review();
    expect(existsSync(pathOf())).toBe(false);
  });

  test("of a deleted backup is no backup", async () => {
    await storeBackup(await start(), ID, "one", BYTES);
    rmSync(pathOf("backups", "one", "backup.json"));
    const next = await start(["a"], { leftoverMs: 0 });
    expect(next.archives.state(ID)?.backups).toEqual([]);
    await until("what is left is deleted", () => !existsSync(pathOf()));
  });

  test("of a deleted archive is deleted by the next start", async () => {
    const keeper = await start();
    await storeBackup(keeper, ID, "one", BYTES);
    await storeBackup(keeper, "cache-2", "one", BYTES);
    await keeper.store.put(`archives/${ID}/deleted.json`, new Uint8Array());
    const next = await start();
    expect(next.archives.ids()).toEqual(["cache-2"]);
    await until("the deletion is finished", () => !existsSync(pathOf()));
  });

  test("half written in a folder is deleted", async () => {
    await start();
    const left = join(folder, "a", "unfinished", "1.1");
    writeFileSync(left, "half");
    const next = await start();
    await storeBackup(next, ID, "one", BYTES);
    expect(existsSync(left)).toBe(false);
  });
});

test("a deleted archive is gone, and every listener is notified", async () => {
  const keeper = await start();
  const lines: unknown[] = [];
  await keeper.archives.announce(ID, { engine: facts.engine, log: null });
  const stop = keeper.archives.listen((line) => lines.push(line));
  await storeBackup(keeper, ID, "one", BYTES);
  await keeper.archives.delete(ID);
  stop();
  expect(keeper.archives.state(ID)).toBeNull();
  expect(existsSync(pathOf())).toBe(false);
  expect(lines.at(-1)).toEqual({ type: "removed", id: ID });
  expect(lines.at(-2)).toMatchObject({ type: "archive", archive: { id: ID, engine: facts.engine } });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 4;
  writeFileSync(path, bytes);
}

/** What a promise fails with. */
async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => null,
    (error: unknown) => error,
  );
}

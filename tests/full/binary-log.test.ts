// The log of a real MariaDB, shipped by a real keeper: awake, asleep, over restarts, turned off and on, and restored to
// seconds of it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import type { InstanceSpec } from "../../src/contracts/instance-spec.ts";
import type { LogState } from "../../src/contracts/keeper.ts";
import { newId } from "../../src/lib/ids.ts";
import { sleepySpec } from "../../src/host/test-support.ts";
import { BackupStage } from "../../src/host/backups/test-support.ts";

const stage = new BackupStage();
const spec = sleepySpec("mysql", { keepsLog: true });
const { id } = spec;

beforeAll(async () => {
  stage.hosts.settings.releaseIntervalMs = 500;
  await stage.start();
  expect(await stage.driver.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  await inDatabase(id, async (db) => {
    await db.unsafe("create table written (n int primary key auto_increment, at int not null)");
    await db.unsafe("create table counted (count int not null)");
    await db.unsafe("insert into counted values (0)");
    await db.unsafe(
      "create trigger counts after insert on written for each row update counted set count = count + 1",
    );
  });
});
afterAll(() => stage.close());

const inDatabase = <T>(of: string, use: (db: Bun.SQL) => Promise<T>) => stage.inDatabase("mysql", of, use);

/** The second of each commit, in the order of the log. */
const commits: number[] = [];

/** Commits until so many more seconds have begun. The time of a statement is that of its commit in the log. */
async function write(seconds: number): Promise<void> {
  await inDatabase(id, async (db) => {
    const first = commits.length;
    while (new Set(commits.slice(first)).size <= seconds) {
      await db.unsafe("insert into written (at) values (unix_timestamp(now()))");
      const [row] = await db.unsafe<{ at: number }[]>("select at from written order by n desc limit 1");
      commits.push(Number(row?.at));
    }
  });
}

async function logOf(from = id): Promise<LogState | null> {
  return (await stage.driver.archive(from))?.log ?? null;
}

async function untilShipped(at = new Date().toISOString()): Promise<void> {
  await until("the log is shipped", async () => ((await logOf())?.watermark.at ?? "") > at);
}

const instantOf = (second: number) => new Date(second * 1000).toISOString();

/** A new instance with the data of an instant. */
function copyAt(at: string): InstanceSpec {
  const exposure = { ...spec.exposure, port: freePort() };
  return { ...spec, id: newId("db"), exposure, origin: { archive: id, at }, keepsLog: false } as InstanceSpec;
}

/** Restores an instant, and expects all commits of earlier seconds and no other. */
async function expectAt(second: number): Promise<void> {
  const copy = copyAt(instantOf(second));
  expect(await stage.driver.ensure(copy)).toMatchObject({ state: "running", lastError: null });
  await inDatabase(copy.id, async (db) => {
    const rows = await db.unsafe<{ at: number }[]>("select at from written order by n");
    const expected = commits.filter((at) => at < second);
    expect(rows.map(({ at }) => Number(at))).toEqual(expected);
    const [counted] = await db.unsafe<{ count: number }[]>("select count from counted");
    expect(Number(counted?.count)).toBe(expected.length);
    await db.unsafe("insert into written (at) values (0)");
  });
  expect(
    readdirSync(join(stage.folderOf(copy.id), "data")).filter((name) => /^relay|^master|pilvi/.test(name)),
  ).toEqual([]);
  await stage.driver.remove(copy.id);
}

test("every second after a backup is restored exactly, awake and asleep, over new hosts and keepers", async () => {
  await write(1);
  const backup = await stage.backUp(id);
  const earliest = backup.mysql?.endedAt ?? "";
  await until("the second of the backup is over", () => new Date().toISOString() > earliest);
  await write(2);
  const middle = commits.at(-1) ?? 0;
  await stage.startHost();
  stage.gateway = await stage.hosts.gateway();
  await stage.killKeeper();
  await write(1);
  await stage.startKeeper();
  expect(await stage.driver.suspend(id)).toMatchObject({ state: "asleep" });
  await untilShipped();
  await write(1);
  await untilShipped();
  expect((await logOf())?.gaps).toEqual([]);
  expect((await logOf())?.earliestRestoreTime).toBe(earliest);
  await expectAt(Date.parse(earliest) / 1000);
  await expectAt(middle);
  await expectAt(commits.at(-1) ?? 0);
  await until("the last second is over", () => Date.now() / 1000 > (commits.at(-1) ?? 0) + 1);
  await untilShipped();
  await expectAt((commits.at(-1) ?? 0) + 1);
}, 120_000);

test("the server deletes files that are in the archive, and a cold backup goes on with the log", async () => {
  const files = () =>
    readdirSync(join(stage.folderOf(id), "data", "pilvi-log")).filter((name) => /\.\d+$/.test(name));
  await write(1);
  expect(await stage.driver.suspend(id)).toMatchObject({ state: "asleep" });
  const backup = await stage.backUp(id);
  expect(backup).toMatchObject({ isHot: false, mysql: { segmentBytes: 4_194_304 } });
  await write(2);
  await untilShipped();
  await until("older files are deleted", () => files().length === 1);
  await expectAt(commits.at(-1) ?? 0);
});

test("a customer makes triggers, cannot choose the time of a commit, and sees no database of the log", async () => {
  await inDatabase(id, async (db) => {
    const databases = await db.unsafe<{ Database: string }[]>("show databases");
    expect(databases.map(({ Database }) => Database).filter((name) => name.includes("pilvi"))).toEqual([]);
    await expect(db.unsafe("set timestamp = 1")).rejects.toThrow();
    await expect(db.unsafe("set session sql_log_bin = 0")).rejects.toThrow();
  });
});

test("a damaged or missing binary log is named, and nothing older is restored", async () => {
  await write(1);
  await untilShipped();
  const folder = join(stage.hosts.dataDir, "backups", "archives", id, "log");
  const objects = readdirSync(folder)
    .filter((name) => name.includes(".partial."))
    .sort();
  const newest = objects.at(-1)?.slice(0, 24) ?? "";
  const named = `binlog.${String(Number.parseInt(newest.slice(8, 16), 16)).padStart(6, "0")}`;
  const object = objects.find((name) => name.startsWith(newest)) ?? "";
  const path = join(folder, object);
  const sealed = readFileSync(path);
  const damaged = Buffer.from(sealed);
  damaged[damaged.length - 20] = (damaged.at(-20) ?? 0) ^ 1;
  for (const content of [damaged, null]) {
    if (content === null) rmSync(path);
    else writeFileSync(path, content);
    const copy = copyAt(instantOf(commits.at(-1) ?? 0));
    await stage.driver.ensure(copy).catch(() => undefined);
    await until("the restore has failed for good", async () => {
      const { restoreFailed, lastError } = await stage.driver.observe(copy.id);
      return restoreFailed === true && lastError?.includes(named) === true;
    });
    await stage.driver.remove(copy.id);
  }
  writeFileSync(path, sealed);
  await expectAt(commits.at(-1) ?? 0);
});

test("a log that is turned off is deleted, and another begins when it is turned on again", async () => {
  const folder = join(stage.folderOf(id), "data", "pilvi-log");
  const before = (await logOf())?.timeline ?? 0;
  const off = { ...spec, keepsLog: false } as InstanceSpec;
  await write(1);
  expect(await stage.driver.ensure(off)).toMatchObject({ state: "running", lastError: null });
  expect(existsSync(folder)).toBe(false);
  await write(1);
  expect(await stage.driver.suspend(id)).toMatchObject({ state: "asleep" });
  await stage.driver.ensure(spec);
  await write(1);
  expect(existsSync(folder)).toBe(true);
  await until("the new log is shipped", async () => ((await logOf())?.timeline ?? 0) > before);
  expect((await logOf())?.earliestRestoreTime).toBeNull();
  const backup = await stage.backUp(id);
  const earliest = backup.mysql?.endedAt ?? "";
  await until("the second of the backup is over", () => new Date().toISOString() > earliest);
  await write(2);
  await untilShipped();
  await expectAt(commits.at(-1) ?? 0);
});

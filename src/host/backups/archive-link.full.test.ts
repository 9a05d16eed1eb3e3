// The log of a real Postgres, shipped by a real keeper: awake, asleep, over restarts of host and keeper, and restored to
// an instant.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { asAdmin } from "../../engines/postgres/admin.ts";
import type { LogState } from "../../contracts/keeper.ts";
import { newId } from "../../lib/ids.ts";
import { sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

const stage = new BackupStage();
const spec = sleepySpec("postgres", { keepsLog: true });
const { id } = spec;

beforeAll(async () => {
  stage.hosts.settings.releaseIntervalMs = 500;
  await stage.start();
  expect(await stage.driver.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  await inDatabase(id, (db) => db`create table notes (note varchar(100))`);
}, 60_000);
afterAll(() => stage.close());

const inDatabase = <T>(of: string, use: (db: Bun.SQL) => Promise<T>) => stage.inDatabase("postgres", of, use);

/** Writes a note. @returns an instant right after its commit, by the clock of the engine. */
async function write(note: string): Promise<string> {
  return await inDatabase(id, async (db) => {
    await db`insert into notes values (${note})`;
    const [row] = await db<{ at: string }[]>`
      select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;
    return row?.at ?? "";
  });
}

async function notesOf(from: string): Promise<string[]> {
  const rows = await inDatabase(from, (db) => db<{ note: string }[]>`select note from notes order by note`);
  return rows.map(({ note }) => note);
}

async function logOf(): Promise<LogState | null> {
  return (await stage.driver.archive(id))?.log ?? null;
}

async function untilShipped(at: string): Promise<void> {
  await until("the log is shipped", async () => ((await logOf())?.watermark.at ?? "") > at);
}

/** Restores an instant into a new instance. @returns the notes that it has. */
async function restoredAt(at: string): Promise<string[]> {
  const origin = { archive: id, at };
  const exposure = { ...spec.exposure, port: freePort() };
  const copy = { ...spec, id: newId("db"), exposure, origin, keepsLog: false } as InstanceSpec;
  expect(await stage.driver.ensure(copy)).toMatchObject({ state: "running", lastError: null });
  const notes = await notesOf(copy.id);
  await stage.driver.remove(copy.id);
  return notes;
}

test("every instant after a backup is restored, awake and asleep, over new hosts and keepers", async () => {
  await write("before the backup");
  await stage.backUp(id);
  const first = await write("1 awake");
  const second = await write("2 awake");
  await untilShipped(second);
  await stage.startHost();
  stage.gateway = await stage.hosts.gateway();
  const third = await write("3 after another host");
  await untilShipped(third);
  await stage.killKeeper();
  const fourth = await write("4 without a keeper");
  await stage.startKeeper();
  await untilShipped(fourth);
  await write("5 asleep");
  expect(await stage.driver.suspend(id)).toMatchObject({ state: "asleep" });
  const asleep = new Date().toISOString();
  await untilShipped(asleep);
  const all = [
    "1 awake",
    "2 awake",
    "3 after another host",
    "4 without a keeper",
    "5 asleep",
    "before the backup",
  ];
  expect(await restoredAt(first)).toEqual(["1 awake", "before the backup"]);
  expect(await restoredAt(third)).toEqual([...all.slice(0, 3), "before the backup"]);
  expect(await restoredAt(asleep)).toEqual(all);
  const verified = await stage.driver.verify(id, { at: third }, stage.signal);
  expect(verified).toMatchObject({ at: third, isComplete: true, faults: [] });
  expect(await stage.driver.observe(id)).toMatchObject({ state: "asleep" });
});

test("an instant before the backup, and an instant in the future, are refused", async () => {
  const early = { archive: id, at: "2001-01-01T00:00:00.000000Z" };
  await expect(stage.driver.planRestore(id, { at: early.at })).rejects.toThrow();
  const late = new Date(Date.now() + 3_600_000).toISOString();
  await expect(stage.driver.planRestore(id, { at: late })).rejects.toThrow();
  const copy = { ...spec, id: newId("db"), origin: early, keepsLog: false } as InstanceSpec;
  const exposure = { ...spec.exposure, port: freePort() };
  expect(await stage.driver.ensure({ ...copy, exposure })).toMatchObject({
    state: "failed",
    restoreFailed: true,
  });
  await stage.driver.remove(copy.id);
});

test("an engine deletes the log that has arrived in the archive, and a lost log is reported until a backup", async () => {
  const slot = async () => {
    const [row] = await inDatabase(
      id,
      (db) => db<{ lsn: string }[]>`select restart_lsn::text as lsn from pg_replication_slots`,
    );
    return row?.lsn ?? null;
  };
  const before = await slot();
  await inDatabase(id, (db) => db`insert into notes select repeat('x', 100) from generate_series(1, 100000)`);
  await until("the log is released", async () => (await slot()) !== before);
  const { socket } = await stage.gateway.until(id, "running");
  await asAdmin({ paths: { socket } }, "postgres", (db) => db`select pg_drop_replication_slot('pilvi')`);
  const seen = async () => (await stage.driver.observe(id)).lastError;
  await until(
    "the loss is reported",
    async () => (await seen())?.startsWith("A part of the log was lost") ?? false,
  );
  expect(await slot()).not.toBeNull();
  await stage.backUp(id);
  expect(await seen()).toBeNull();
});

test("an instance that is removed has its last commit in the archive", async () => {
  const short = sleepySpec("postgres", { keepsLog: true });
  expect(await stage.driver.ensure(short)).toMatchObject({ state: "running", lastError: null });
  await inDatabase(short.id, (db) => db`create table notes (note varchar(100))`);
  await stage.backUp(short.id);
  await inDatabase(short.id, (db) => db`insert into notes values ('the last')`);
  await stage.driver.remove(short.id);
  const exposure = { ...short.exposure, port: freePort() };
  const at = (await stage.driver.archive(short.id))?.log?.watermark.at ?? "";
  const origin = { archive: short.id, at };
  const copy = { ...short, id: newId("db"), exposure, origin, keepsLog: false } as InstanceSpec;
  expect(await stage.driver.ensure(copy)).toMatchObject({ state: "running", lastError: null });
  expect(await notesOf(copy.id)).toEqual(["the last"]);
  await stage.driver.remove(copy.id);
  expect((await stage.driver.archive(short.id))?.lastError).toBeNull();
});

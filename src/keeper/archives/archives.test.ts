// Logs and backups together: a real Postgres is shipped, backed up, planned and restored over the keeper's socket.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { BackupFacts, LogState } from "../../contracts/keeper.ts";
import { KeeperClient, PlanRefused } from "../../host/backups/keeper-client.ts";
import type { Keeper } from "../keeper.ts";
import { LogPostgres, SEGMENT_BYTES, type Base } from "../log/test-support.ts";
import { serveKeeper } from "../server.ts";
import {
  bytesOf,
  collect,
  facts,
  freshFolder,
  keeperIn,
  removeFolder,
  silentLog,
  streamOf,
} from "../test-support.ts";

const ID = "database-1";
const never = new AbortController().signal;

let folder: string;
let keeper: Keeper;
let client: KeeperClient;
let stopServing: () => Promise<void>;
let server: LogPostgres;

beforeEach(async () => {
  folder = freshFolder("a");
  const socket = join(folder, "run", "keeper.sock");
  keeper = keeperIn(folder, ["a"], { passIntervalMs: 100 });
  stopServing = serveKeeper(keeper, socket, silentLog);
  keeper.start();
  client = new KeeperClient(socket);
  server = await LogPostgres.start();
  await server.query("create table t(n bigint)");
});

afterEach(async () => {
  await stopServing();
  await keeper.close();
  await server.remove();
  removeFolder(folder);
});

function factsOf(base: Base): BackupFacts {
  return {
    ...facts,
    engine: { name: "postgres", major: String(server.major), version: server.engine.version },
    isHot: true,
    completedAt: base.completedAt,
    postgres: {
      timeline: 1,
      startLsn: "0/1000028",
      endLsn: base.endLsn,
      startSegment: base.startSegment,
      segmentBytes: SEGMENT_BYTES,
      label: "",
      checkpointLsn: null,
    },
  };
}

async function announce(isAwake: boolean): Promise<void> {
  const log = { folder: server.log, isAwake, segmentBytes: SEGMENT_BYTES };
  await client.announce(ID, { engine: { ...facts.engine, name: "postgres" }, log });
}

async function backUp(backup: string): Promise<Base> {
  const base = await server.base();
  await client.store(ID, backup, streamOf(bytesOf(1_000)), never);
  await client.complete(ID, backup, factsOf(base));
  return base;
}

async function logState(): Promise<LogState | null> {
  return (await client.archive(ID))?.log ?? null;
}

test("an announced log is shipped by itself, and an instant of it is planned and restored", async () => {
  await announce(true);
  const base = await backUp("one");
  await server.query("insert into t select generate_series(1, 1000)");
  const [row] = await server.query<{ now: string }>(
    "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') as now",
  );
  const at = row?.now ?? "";
  await server.query("insert into t values (-1)");
  await until(
    "the log is shipped beyond the instant",
    async () => ((await logState())?.watermark.at ?? "") > at,
  );
  expect(await logState()).toMatchObject({ gaps: [], earliestRestoreTime: base.completedAt });
  const plan = await client.plan(ID, { at });
  expect(plan).toMatchObject({ backup: { id: "one" }, recovery: { kind: "time", at } });
  const segments = await Promise.all(
    plan.segments.map(async ({ name }) => ({
      name,
      bytes: await collect(await client.readLog(ID, name, never)),
    })),
  );
  expect(segments.every(({ bytes }) => bytes.length === SEGMENT_BYTES)).toBe(true);
  const settings = [
    `recovery_target_time=${at.replace("T", " ").replace("Z", "+00")}`,
    "recovery_target_action=promote",
  ];
  const restored = await server.restore(base, { segments, settings });
  try {
    expect(restored.isReady).toBe(true);
    const [found] = await restored.server.query("select count(*)::int as count, min(n)::int as least from t");
    expect(found).toEqual({ count: 1_000, least: 1 });
  } finally {
    await restored.server.remove();
  }
});

test("the log of a cluster that sleeps reaches each backup that is made meanwhile", async () => {
  await announce(true);
  await backUp("one");
  const asleepAt = new Date().toISOString();
  await announce(false);
  await until("the last pass was made", async () => ((await logState())?.watermark.at ?? "") > asleepAt);
  const two = await backUp("two");
  await client.deleteBackup(ID, "one");
  await until(
    "the log reaches the backup",
    async () => (await logState())?.earliestRestoreTime === two.completedAt,
  );
});

test("a log that was ended begins anew with other data, and no earlier backup leads to it", async () => {
  await announce(true);
  await backUp("one");
  await server.query("insert into t select generate_series(1, 100000)");
  await client.flush(ID);
  const engine = { ...facts.engine, name: "postgres" } as const;
  await client.announce(ID, { engine, log: null });
  await client.retain(ID, { keepFrom: new Date(0).toISOString(), keepBackups: [], endsLog: true });
  expect((await client.archive(ID))?.backups.map(({ id }) => id)).toEqual(["one"]);
  expect(await logState()).toBeNull();
  const former = server;
  server = await LogPostgres.start();
  await former.remove();
  await server.query("create table t(n bigint)");
  await announce(true);
  await client.flush(ID);
  expect(await logState()).toMatchObject({ earliestRestoreTime: null, gaps: [] });
  const before = await logState();
  expect(
    await client.plan(ID, { at: before?.watermark.at ?? "" }).catch((error: unknown) => error),
  ).toMatchObject({
    code: "too_early",
  });
  const two = await backUp("two");
  await until(
    "the log reaches the backup",
    async () => (await logState())?.earliestRestoreTime === two.completedAt,
  );
  expect((await client.plan(ID, { latest: true })).backup.id).toBe("two");
  await stopServing();
  await keeper.close();
  keeper = keeperIn(folder, ["a"]);
  stopServing = serveKeeper(keeper, join(folder, "run", "keeper.sock"), silentLog);
  keeper.start();
  expect((await logState())?.earliestRestoreTime).toBe(two.completedAt);
});

test("a missing segment is a gap, which a plan names", async () => {
  await announce(true);
  const base = await backUp("one");
  for (let count = 0; count < 3; count += 1) {
    await server.query("insert into t select generate_series(1, 1000)");
    await server.query("select pg_switch_wal()");
  }
  await client.flush(ID);
  const path = join(folder, "a", "archives", ID, "log");
  const whole = readdirSync(path)
    .filter((name) => /^[0-9A-F]{24}$/.test(name) && name > base.startSegment)
    .sort();
  expect(whole.length).toBeGreaterThan(1);
  await stopServing();
  await keeper.close();
  rmSync(join(path, whole[0] ?? ""));
  keeper = keeperIn(folder, ["a"]);
  stopServing = serveKeeper(keeper, join(folder, "run", "keeper.sock"), silentLog);
  keeper.start();
  expect((await logState())?.gaps).toHaveLength(1);
  const refused = await client.plan(ID, { latest: true }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PlanRefused);
  expect(refused).toMatchObject({ code: "gap", message: expect.stringContaining(whole[1] ?? "") });
});

test("a deleted archive keeps nothing of a log that is being shipped", async () => {
  await announce(true);
  await server.query("insert into t select generate_series(1, 1000)");
  await until("the log is shipped", async () => (await logState()) !== null);
  await client.deleteArchive(ID);
  await server.query("insert into t select generate_series(1, 1000)");
  await keeper.review();
  expect(keeper.archives.ids()).toEqual([]);
  expect(await keeper.store.list("archives/")).toEqual([]);
});

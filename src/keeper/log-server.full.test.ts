// The log of a real Postgres through the keeper's socket: announced, shipped, planned, read back, restored, deleted.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KeeperClient, PlanRefused } from "../host/backups/keeper-client.ts";
import type { BackupFacts } from "../contracts/keeper.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { Keeper } from "./keeper.ts";
import { LogPostgres, SEGMENT_BYTES, type Base } from "./log/test-support.ts";
import { serveKeeper } from "./server.ts";
import { collect, facts, freshFolder, keeperIn, removeFolder, silentLog, streamOf } from "./test-support.ts";

const ID = "database-1";
const ENGINE = { name: "postgres" as const, major: "18", version: "18.4" };
const signal = new AbortController().signal;

let folder: string;
let server: LogPostgres;
let keeper: Keeper;
let client: KeeperClient;
let stop: () => Promise<void>;

beforeEach(async () => {
  folder = freshFolder("a");
  server = await LogPostgres.start();
  await server.query("create table t(n bigint, pad text)");
  startKeeper();
});

afterEach(async () => {
  await stopKeeper();
  await server.remove();
  removeFolder(folder);
});

function startKeeper(): void {
  keeper = keeperIn(folder);
  keeper.start();
  stop = serveKeeper(keeper, join(folder, "keeper.sock"), silentLog);
  client = new KeeperClient(join(folder, "keeper.sock"));
}

async function stopKeeper(): Promise<void> {
  await stop();
  await keeper.close();
}

async function announce(isAwake = true): Promise<void> {
  const log = { folder: server.log, isAwake, segmentBytes: SEGMENT_BYTES };
  await client.announce(ID, { engine: ENGINE, log });
}

async function write(rows: number): Promise<void> {
  await server.query(`insert into t select g, repeat('x', 200) from generate_series(1, ${rows}) g`);
}

async function rowsOf(postgres: LogPostgres): Promise<number> {
  const [row] = await postgres.query<{ n: number }>("select count(*)::int as n from t");
  return row?.n ?? -1;
}

/** Stores a backup; its stream stands for the copy that the base has on disk. */
async function backUp(id: string): Promise<Base> {
  const base = await server.base();
  await client.store(ID, id, streamOf(new TextEncoder().encode("a copy")), signal);
  const postgres: BackupFacts["postgres"] = {
    timeline: 1,
    startLsn: base.endLsn,
    endLsn: base.endLsn,
    startSegment: base.startSegment,
    segmentBytes: SEGMENT_BYTES,
    label: "label",
    checkpointLsn: null,
  };
  const own = { engine: ENGINE, isHot: true, completedAt: base.completedAt, postgres };
  await client.complete(ID, id, { ...facts, ...own });
  return base;
}

async function restored(base: Base, at: string): Promise<number> {
  const plan = await client.plan(ID, { at });
  const segments = await Promise.all(
    plan.segments.map(async ({ name }) => ({
      name,
      bytes: await collect(await client.readLog(ID, name, signal)),
    })),
  );
  expect(segments.every(({ bytes }) => bytes.length === SEGMENT_BYTES)).toBe(true);
  if (plan.recovery.kind !== "time") throw new Error("the plan has no instant");
  const settings = [`recovery_target_lsn=${plan.recovery.mustReachLsn}`, "recovery_target_action=promote"];
  const { server: copy, isReady } = await server.restore(base, { segments, settings });
  try {
    expect(isReady).toBe(true);
    return await rowsOf(copy);
  } finally {
    await copy.remove();
  }
}

async function codeOf(plan: Promise<unknown>): Promise<string> {
  try {
    await plan;
  } catch (error) {
    if (error instanceof PlanRefused) return error.code;
    throw error;
  }
  return "planned";
}

/** The files of the archive's log at its target. */
function logFiles(): string[] {
  const path = join(folder, "a", "archives", ID, "log");
  return readdirSync(path)
    .sort()
    .map((name) => join(path, name));
}

describe("a log that is announced", () => {
  test("has its state sent with each flush, however soon after the former state", async () => {
    const sent: string[] = [];
    const watching = new AbortController();
    const watched = (async () => {
      for await (const line of client.watch(watching.signal))
        if (line.type === "archive") sent.push(line.archive.log?.watermark.lsn ?? "none");
    })().catch(() => undefined);
    await announce();
    await until("the log has a state", () => sent.some((lsn) => lsn !== "none"));
    for (let rows = 1; rows <= 3; rows += 1) {
      await write(rows);
      const { watermark } = await client.flush(ID);
      await until("the state of the flush is sent", () => sent.at(-1) === watermark.lsn);
    }
    watching.abort();
    await watched;
  });

  test("is shipped every second, and after the next start of the keeper as well", async () => {
    await announce();
    await until(
      "the log has a watermark",
      async () => typeof (await client.archive(ID))?.log?.lagSeconds === "number",
    );
    const before = (await client.archive(ID))?.log?.watermark;
    await write(10);
    await until(
      "the change is shipped",
      async () => (await client.archive(ID))?.log?.watermark.lsn !== before?.lsn,
    );
    await stopKeeper();
    await write(40_000);
    startKeeper();
    await announce();
    const log = await client.flush(ID);
    expect(log.gaps).toEqual([]);
    expect(log.lagSeconds).toBe(0);
    expect(log.earliestRestoreTime).toBeNull();
  });

  test("is restored from the keeper's answers up to its end", async () => {
    await announce();
    await client.flush(ID);
    const base = await backUp("one");
    await write(50_000);
    await server.stop();
    await announce(false);
    const { watermark, earliestRestoreTime } = await client.flush(ID);
    expect(earliestRestoreTime).toBe(base.completedAt);
    expect(await restored(base, watermark.at)).toBe(50_000);
  });

  test("is restored by a keeper that knows nothing but the target", async () => {
    await announce();
    await client.flush(ID);
    const base = await backUp("one");
    await write(5_000);
    await client.flush(ID);
    await stopKeeper();
    rmSync(join(folder, "notes"), { recursive: true });
    startKeeper();
    // The watermark of an idle log is stored every ten seconds only.
    const { recovery } = await client.plan(ID, { latest: true });
    if (recovery.kind !== "time") throw new Error("the log is not in the archive");
    expect(await restored(base, recovery.at)).toBe(5_000);
  });

  test("is not planned beyond its watermark, before its first backup, or for a backup that is gone", async () => {
    await announce();
    await backUp("one");
    await client.flush(ID);
    expect(await codeOf(client.plan(ID, { at: "2100-01-01T00:00:00Z" }))).toBe("too_late");
    expect(await codeOf(client.plan(ID, { at: "2020-01-01T00:00:00Z" }))).toBe("too_early");
    expect(await codeOf(client.plan(ID, { backup: "two" }))).toBe("unknown_backup");
    expect(await codeOf(client.plan(ID, { latest: true }))).toBe("planned");
  });

  test("leaves no plan when a segment is missing, and names damage of a segment that is read", async () => {
    await announce();
    await client.flush(ID);
    await backUp("one");
    await write(60_000);
    await client.flush(ID);
    const plan = await client.plan(ID, { latest: true });
    const whole = plan.segments.filter(({ isPartial }) => !isPartial).map(({ name }) => name);
    await stopKeeper();
    const files = logFiles().filter((path) => whole.some((name) => path.endsWith(name)));
    const [first = "", second = ""] = files;
    const kept = readFileSync(first);
    const damaged = Buffer.from(kept);
    damaged[damaged.length - 100] = (damaged[damaged.length - 100] as number) ^ 1;
    writeFileSync(first, damaged);
    startKeeper();
    await expect(client.readLog(ID, whole[0] as string, signal)).rejects.toThrow("cannot be read");
    await stopKeeper();
    // A segment under the name of another is damage as well.
    writeFileSync(first, readFileSync(second));
    startKeeper();
    await expect(client.readLog(ID, whole[0] as string, signal)).rejects.toThrow("cannot be read");
    await stopKeeper();
    renameSync(first, join(folder, "away"));
    startKeeper();
    expect(await codeOf(client.plan(ID, { latest: true }))).toBe("gap");
    expect((await client.archive(ID))?.log?.earliestRestoreTime).toBeNull();
  });

  test("is deleted up to the oldest backup that retention keeps, unless a restore was planned", async () => {
    await announce();
    await client.flush(ID);
    await backUp("one");
    await write(40_000);
    const second = await backUp("two");
    await write(40_000);
    await client.flush(ID);
    const before = logFiles().length;
    const retention = { keepFrom: second.completedAt, keepBackups: [] };
    await client.retain(ID, retention);
    expect((await client.archive(ID))?.backups.map(({ id }) => id)).toEqual(["two"]);
    await until("the segments are deleted", async () => {
      await client.retain(ID, retention);
      return logFiles().length < before;
    });
    expect((await client.archive(ID))?.log?.earliestRestoreTime).toBe(second.completedAt);
    expect(await codeOf(client.plan(ID, { latest: true }))).toBe("planned");
    await client.retain(ID, { keepFrom: "2100-01-01T00:00:00Z", keepBackups: [] });
    expect((await client.archive(ID))?.backups.map(({ id }) => id)).toEqual(["two"]);
  });

  test("that cannot be read is reported, and its lag grows", async () => {
    await announce();
    await client.flush(ID);
    await client.announce(ID, {
      engine: ENGINE,
      log: { folder: join(folder, "nowhere"), isAwake: true, segmentBytes: SEGMENT_BYTES },
    });
    await until("the failure is reported", async () => (await client.archive(ID))?.lastError !== null);
    expect((await client.archive(ID))?.log?.lagSeconds).toBeGreaterThan(0);
    await announce();
    await until("the log is shipped again", async () => (await client.archive(ID))?.log?.lagSeconds === 0);
    expect((await client.archive(ID))?.lastError).toBeNull();
  });

  test("is gone with its archive", async () => {
    await announce();
    await client.flush(ID);
    await client.deleteArchive(ID);
    expect(await client.archive(ID)).toBeNull();
    expect(keeper.archives.ids()).toEqual([]);
  });
});

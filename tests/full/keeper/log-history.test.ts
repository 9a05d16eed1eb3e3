// Random histories of a server, its keeper and the target; and restores to instants, compared with the commits of the
// server in the order of its log.
import { afterEach, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import type { BackupInfo } from "../../../src/contracts/keeper.ts";
import { LogArchive } from "../../../src/keeper/log/log-archive.ts";
import { microsecondsOf } from "../../../src/keeper/log/instant.ts";
import { parseLsn } from "../../../src/keeper/log/segment.ts";
import { TrackedLog } from "../../../src/keeper/log/tracked-log.ts";
import {
  MemoryStore,
  postgresEngines,
  SEGMENT_BYTES,
  type Base,
  type LogPostgres,
} from "../../../src/keeper/log/test-support.ts";
import { until } from "../../support/pilvi/pilvi.ts";
import { freshServer, PREFIX, removeServers } from "../../../src/keeper/log/test-shipping.ts";

afterEach(removeServers);

const EMPTY: BackupInfo[] = [];

/** Random numbers from 0 to 1 that a seed repeats. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

function trackedLog(store: MemoryStore, server: LogPostgres, isAwake = true): TrackedLog {
  const log = new TrackedLog(new LogArchive(store, PREFIX));
  log.announce({ folder: server.log, isAwake, segmentBytes: SEGMENT_BYTES });
  return log;
}

function backupOf(base: Base): BackupInfo {
  return {
    id: "base",
    archive: "a",
    engine: { name: "postgres", major: "18", version: "18.4" },
    format: "tar",
    isHot: true,
    dataBytes: 0,
    users: [],
    databases: [],
    startedAt: base.completedAt,
    completedAt: base.completedAt,
    postgres: {
      timeline: 1,
      startLsn: "0/1",
      endLsn: base.endLsn,
      startSegment: base.startSegment,
      segmentBytes: SEGMENT_BYTES,
      label: "",
      checkpointLsn: null,
    },
    partCount: 1,
    plainBytes: 0,
    storedBytes: 0,
  };
}

/** Restores to an instant from what the archive alone has. @returns the transactions that are in it. */
async function restoredTo(
  server: LogPostgres,
  store: MemoryStore,
  base: Base,
  at: string,
): Promise<{ xids: Set<string>; segments: number; sum: number }> {
  const log = new TrackedLog(new LogArchive(store, PREFIX));
  const backups = [backupOf(base)];
  const plan = await log.plan(backups, { at });
  if (plan.recovery.kind !== "time") throw new Error("the plan has no instant");
  const segments = await Promise.all(
    plan.segments.map(async ({ name }) => ({ name, bytes: await log.read(name, backups) })),
  );
  const settings = [
    `recovery_target_time=${at.replace("T", " ").replace("Z", "+00")}`,
    "recovery_target_action=promote",
  ];
  const first = await server.restore(base, { segments, settings });
  let restored = first;
  if (!first.isReady) {
    // No commit lies after the instant, so the replay comes to the end: it must be the end that the plan names.
    expect(parseLsn(first.reached ?? "0/0")).toBeGreaterThanOrEqual(parseLsn(plan.recovery.mustReachLsn));
    await first.server.remove();
    const lsn = [`recovery_target_lsn=${plan.recovery.mustReachLsn}`, "recovery_target_action=promote"];
    restored = await server.restore(base, { segments, settings: lsn });
  }
  try {
    const rows = await restored.server.query<{ xid: string }>("select xid::text from log");
    const [kv] = await restored.server.query<{ sum: string }>("select sum(v)::text as sum from kv");
    return { xids: new Set(rows.map(({ xid }) => xid)), segments: segments.length, sum: Number(kv?.sum) };
  } finally {
    await restored.server.remove();
  }
}

async function prepare(server: LogPostgres): Promise<void> {
  await server.query("create table log(xid xid8 default pg_current_xact_id(), pad text)");
  await server.query("create table kv(k int primary key, v bigint)");
  await server.query("insert into kv select g, 0 from generate_series(1, 20) g");
}

/** A transaction with a row in each table. @returns its id. */
async function commit(db: SQL, key: number): Promise<string> {
  const [row] = (await db.unsafe(
    `with w as (update kv set v = v + 1 where k = ${key}) insert into log(pad) values (repeat('x', 300)) returning xid::text`,
  )) as { xid: string }[];
  return row?.xid ?? "";
}

/** The transactions up to an instant, in the order of the log, as Postgres itself reads its log. */
async function commitsOf(server: LogPostgres, from: string): Promise<{ xid: string; at: number }[]> {
  await server.query("create extension if not exists pg_walinspect");
  const rows = await server.query<{ xid: string; at: string }>(
    `select xid::text, to_char(substring(description from '^[^;]+')::timestamptz at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
     from pg_get_wal_records_info('${from}', pg_current_wal_flush_lsn())
     where resource_manager = 'Transaction' and record_type like 'COMMIT%' order by start_lsn`,
  );
  return rows.map(({ xid, at }) => ({ xid, at: microsecondsOf(at) }));
}

describe("a random history of writes, sleeps, crashes and failing targets", () => {
  test.each([1, 2, 3])(
    "has a watermark that never names a commit that is not in the archive (seed %p)",
    async (seed) => {
      const random = randomOf(seed * 7919);
      const [server, store] = [await freshServer(), new MemoryStore()];
      await prepare(server);
      let log = trackedLog(store, server);
      await log.flush();
      const base = await server.base();
      /** What clients were told is committed, with the time of the answer. */
      const acknowledged: { xid: string; at: number }[] = [];
      const steps: Record<string, () => Promise<void>> = {
        write: async () => {
          const db = server.connect();
          for (let count = 0; count < 1 + random() * 20; count += 1) {
            const xid = await commit(db, 1 + Math.floor(random() * 20));
            acknowledged.push({ xid, at: Date.now() });
          }
          await db.close();
        },
        flood: async () => {
          await server.query(
            "insert into log(xid, pad) select '0', repeat('f', 500) from generate_series(1, 12000)",
          );
        },
        turn: async () => void (await log.turn()),
        sleep: async () => {
          await server.stop(random() < 0.5 ? "SIGINT" : "SIGKILL");
          log.announce({ folder: server.log, isAwake: false, segmentBytes: SEGMENT_BYTES });
          if (random() < 0.7) await log.turn();
          await server.run();
          log.announce({ folder: server.log, isAwake: true, segmentBytes: SEGMENT_BYTES });
        },
        killKeeper: async () => {
          const last = store.operations + Math.floor(random() * 3);
          const moment = random() < 0.5 ? "before" : "after";
          store.fault = (operation, when) => {
            if (operation > last && when === moment) throw new Error("killed");
          };
          await log.turn();
          store.fault = () => undefined;
          log = trackedLog(store, server);
        },
        failTarget: async () => {
          store.fault = () => {
            throw new Error("the target does not answer");
          };
          await steps.write?.();
          await log.turn();
          expect(log.lastError).not.toBeNull();
          store.fault = () => undefined;
        },
      };
      const names = ["write", "write", "turn", "turn", "flood", "sleep", "killKeeper", "failTarget"];
      for (let count = 0; count < 40; count += 1)
        await steps[names[Math.floor(random() * names.length)] as string]?.();
      await steps.write?.();
      // The machine is lost now: what the archive has is all there is.
      const archive = new LogArchive(store, PREFIX);
      await archive.load();
      const at = archive.watermark?.at ?? "";
      const { xids } = await restoredTo(server, store, base, at);
      const promised = acknowledged.filter((commitment) => commitment.at < Date.parse(at));
      expect(promised.length).toBeGreaterThan(0);
      expect(promised.filter(({ xid }) => !xids.has(xid))).toEqual([]);
      await log.flush();
      expect(log.state(EMPTY)?.gaps).toEqual([]);
      expect(log.lastError).toBeNull();
    },
  );
});

test.each((await postgresEngines()).map((engine) => [engine.version, engine] as const))(
  "the log of Postgres %s is restored up to the record of its watermark",
  async (_, engine) => {
    const [server, store] = [await freshServer(engine), new MemoryStore()];
    await prepare(server);
    const log = trackedLog(store, server);
    await log.flush();
    const base = await server.base();
    const db = server.connect();
    const xids = ["0"];
    for (let count = 0; count < 100; count += 1) xids.push(await commit(db, 1));
    await server.query(
      "insert into log(xid, pad) select '0', repeat('f', 500) from generate_series(1, 30000)",
    );
    await db.close();
    await log.flush();
    const restored = await restoredTo(server, store, base, log.state(EMPTY)?.watermark.at ?? "");
    expect([...restored.xids].sort()).toEqual(xids.sort());
  },
);

test("restores to random instants have the commits up to then in the order of the log, and none else", async () => {
  const random = randomOf(20_261_123);
  const [server, store] = [await freshServer(), new MemoryStore()];
  await prepare(server);
  const log = trackedLog(store, server);
  await log.flush();
  const [from] = await server.query<{ at: string }>("select pg_current_wal_flush_lsn()::text as at");
  const base = await server.base();
  const progress = { commits: 0, wanted: 300 };
  const isOver = () => progress.commits >= progress.wanted;
  const writer = async () => {
    const db = server.connect();
    for (; !isOver(); progress.commits += 1) {
      await commit(db, 1 + Math.floor(random() * 20));
      await Bun.sleep(2 + random() * 10);
    }
    await db.close();
  };
  const flood = async () => {
    await until("half of the commits are made", () => progress.commits > progress.wanted / 2);
    await server.query(
      "insert into log(xid, pad) select '0', repeat('f', 500) from generate_series(1, 30000)",
    );
  };
  const keeper = async () => {
    for (; !isOver(); await Bun.sleep(100)) await log.turn();
  };
  await Promise.all([writer(), writer(), writer(), flood(), keeper()]);
  await log.flush();
  const commits = await commitsOf(server, from?.at ?? "0/0");
  const before = new Set(
    (await server.query<{ xid: string }>("select xid::text from log")).map(({ xid }) => xid),
  );
  const earliest = microsecondsOf(base.completedAt);
  const within = commits.filter(({ at }) => at > earliest);
  const exact = within[Math.floor(random() * within.length)]?.at ?? 0;
  const latest = microsecondsOf(log.state(EMPTY)?.watermark.at ?? "");
  const instants = [
    earliest,
    exact,
    exact - 1,
    latest,
    ...[0.2, 0.5, 0.8].map((part) => earliest + Math.floor((latest - earliest) * part)),
  ];
  for (const instant of instants) {
    const { xids, sum } = await restoredTo(server, store, base, textOf(instant));
    const cut = commits.findIndex(({ at }) => at > instant);
    const expected = (cut === -1 ? commits : commits.slice(0, cut))
      .map(({ xid }) => xid)
      .filter((xid) => before.has(xid));
    expect([...xids].filter((xid) => xid !== "0").sort()).toEqual(expected.sort());
    expect(sum).toBe(expected.length);
  }
});

function textOf(microseconds: number): string {
  const fraction = String(microseconds % 1_000_000).padStart(6, "0");
  return `${new Date(Math.floor(microseconds / 1000)).toISOString().slice(0, 19)}.${fraction}Z`;
}

// Restores to instants: what was committed up to an instant is there, and nothing later.
import { afterAll, describe, expect, test } from "bun:test";
import type { InstalledEngine } from "../../installed-engine.ts";
import {
  archiveLog,
  backUpCold,
  backUpHot,
  cleanUp,
  Cluster,
  engines,
  enginesUnderTest,
  type Archive,
  type StoredBackup,
} from "../../../../tests/support/engines/postgres-cluster.ts";
import { Restore } from "../../../../tests/support/engines/postgres-restore.ts";

afterAll(cleanUp);

const TRACKED = ["track_commit_timestamp = on"];

interface Commit {
  id: number;
  /** ISO 8601 with microseconds. */
  at: string;
}

/** Commits rows one after the other. */
async function commit(cluster: Cluster, ids: number[]): Promise<void> {
  const db = cluster.client();
  for (const id of ids) await db`insert into log (id) values (${id})`;
  await db.close();
}

/** All commits in their order, with the times that the log has. */
async function commits(cluster: Cluster): Promise<Commit[]> {
  return await cluster.sql<Commit>(
    `select id, to_char(pg_xact_commit_timestamp(xmin) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
     from log order by id`,
  );
}

/** An instant some microseconds later. */
function shifted(at: string, microseconds: number): string {
  const [second, fraction = "0"] = at.slice(0, -1).split(".");
  const total =
    BigInt(Date.parse(`${second}Z`)) * 1_000n + BigInt(fraction.padEnd(6, "0")) + BigInt(microseconds);
  const whole = new Date(Number(total / 1_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${whole}.${String(total % 1_000_000n).padStart(6, "0")}Z`;
}

/** Restores an instant, and returns the rows that are there. */
async function rowsAt(
  installed: InstalledEngine,
  stored: StoredBackup,
  archive: Archive,
  at: string,
): Promise<number[]> {
  const restore = await Restore.unpack(installed, stored, archive);
  await restore.recover({ kind: "time", at, mustReachLsn: archive.lsn });
  const copy = await restore.start();
  const rows = await copy.sql<{ id: number }>("select id from log order by id");
  await copy.stop();
  return rows.map(({ id }) => id);
}

/** The ids from the first to the last, both included. */
function idsFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const versions = await engines();

describe.each(await enginesUnderTest())("Postgres %s", (_, installed) => {
  // Between the newest and the oldest version, a part of the cases is enough.
  const isAtEdge = [versions.at(0), versions.at(-1)].some((version) => version?.[1] === installed);

  test("instants after a hot and after a cold backup are exact, also over a sleep", async () => {
    const cluster = await Cluster.start(installed, TRACKED);
    const owner = cluster.client();
    await owner.unsafe("create table log (id int primary key, filler text default repeat('moi', 300))");
    await owner.close();
    const hot = await backUpHot(cluster, async () => await commit(cluster, idsFrom(1, 20)));
    await commit(cluster, idsFrom(21, 60));
    await cluster.stop();
    const asleep = new Date().toISOString();
    const cold = await backUpCold(cluster);
    const sleeping = await archiveLog(cluster, false);
    await cluster.run();
    await commit(cluster, idsFrom(61, 100));
    const all = await commits(cluster);
    const awake = await archiveLog(cluster);
    await cluster.stop();
    const timeOf = (id: number) => all[id - 1]?.at ?? "";

    const cases: [stored: StoredBackup, archive: Archive, at: string, last: number][] = [
      [hot, awake, timeOf(40), 40],
      [hot, awake, shifted(timeOf(41), -1), 40],
      [hot, awake, asleep, 60],
      [hot, awake, shifted(timeOf(100), 1_000_000), 100],
      [hot, sleeping, asleep, 60],
      [cold, awake, timeOf(80), 80],
      [cold, awake, shifted(timeOf(61), -1), 60],
      [cold, awake, timeOf(100), 100],
      [cold, sleeping, cold.facts.completedAt, 60],
    ];
    for (const [stored, archive, at, last] of isAtEdge ? cases : cases.slice(0, 4))
      expect(await rowsAt(installed, stored, archive, at)).toEqual(idsFrom(1, last));

    const whole = await Restore.unpack(installed, hot, awake);
    const at = shifted(timeOf(100), 1);
    await whole.recover({ kind: "time", at, mustReachLsn: awake.lsn, isWholeLog: true });
    // Without the knowledge that nothing is later, the log is replayed twice.
    expect(whole.pids.length).toBe(1);
    const latest = await whole.start();
    expect(await latest.sql("select count(*)::int as rows from log")).toEqual([{ rows: 100 }]);
    await latest.stop();

    const restore = await Restore.unpack(installed, cold);
    await restore.recover({ kind: "immediate" });
    const copy = await restore.start();
    expect(await copy.sql("select count(*)::int as rows from log")).toEqual([{ rows: 60 }]);
    await copy.stop();
  });
});

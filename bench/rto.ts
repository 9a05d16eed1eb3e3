// Measures how long the restore of a Postgres to an instant takes, from the request to `available`, beside a copy of the
// same backup and log by hand and their replay by the same Postgres.
import type { Client } from "pg";
import {
  connectPg,
  createCluster,
  deleteCluster,
  POSTGRES,
  untilCluster,
} from "../tests/support/pilvi/databases.ts";
import type { ClusterDocument } from "../tests/support/pilvi/databases.ts";
import { until, type TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import type { DatabaseClusterResource } from "../src/resources/databases/schema.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { megabytes, printColumns, printRow, printTarget, printTimes, times } from "./support/report.ts";
import { RestoreByHand } from "./support/restore-by-hand.ts";
import { serverlessConfig } from "./support/sleepers.ts";
import { median } from "./support/statistics.ts";

/** Megabytes of data. */
const SIZE = countOption(200);
/** Megabytes of log after the backup: with more, Pilvi would make another backup. */
const LOG = 200;
const ROUNDS = SIZE > 200 ? 3 : 5;
/** Rounds at the start that warm both sides up and do not count. */
const WARM_UP = 1;
const TARGET_RATIO = 1.3;
/** Enough that the kernel never holds the replay back. */
const COMPUTE_UNITS = 2;
const ROWS_PER_MEGABYTE = 2_600;
const ROWS_AT_ONCE = 20_000;
/** Of each transaction, with an insert and a change of so many rows. */
const CHANGED_ROWS = 500;
const MAX_MS = 900_000;

interface SnapshotDocument {
  data: { id: string; attributes: { status: string }; meta: { last_error: string | null } };
}

await runBench(
  `rto: restore of ${SIZE} MB of data and ${LOG} MB of log to an instant, through the API to available, ${ROUNDS} rounds`,
  async ({ pilvi, atEnd }) => {
    const config = { ...serverlessConfig(COMPUTE_UNITS), retention_days: 1 };
    const source = await createCluster(pilvi, { type: POSTGRES, config });
    const at = await fill(pilvi, source);
    const hand = await RestoreByHand.take(pilvi, source.id, at);
    atEnd(() => hand.end());
    const samples = { byHand: [] as number[], restored: [] as number[] };
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const byHand = await hand.restore();
      const restored = await restore(pilvi, source, at);
      if (round < 0) continue;
      samples.byHand.push(byHand);
      samples.restored.push(restored);
    }
    const { backup, totalBytes } = hand.plan;
    printRow(
      "backup, its log",
      megabytes(backup.plainBytes / 1024),
      megabytes((totalBytes - backup.plainBytes) / 1024),
    );
    printColumns("median", "p99", "x median", "x p99");
    printTimes("cp -a of the same files and their replay (baseline)", samples.byHand);
    printTimes("restore: POST sent to available", samples.restored, samples.byHand);
    const ratio = median(samples.restored) / median(samples.byHand);
    printTarget(`${SIZE} MB and ${LOG} MB of log: median`, ratio, TARGET_RATIO, times);
  },
);

/** Makes data, a backup of it, and log after that. @returns an instant at the end of the log, before its last commit. */
async function fill(pilvi: TestPilvi, source: DatabaseClusterResource): Promise<string> {
  const client = await connectPg(source);
  await client.query("create table bulk (id bigint generated always as identity primary key, v text)");
  await client.query(`create temporary table pool as ${values(ROWS_AT_ONCE)}`);
  for (let rows = 0; rows < SIZE * ROWS_PER_MEGABYTE; rows += ROWS_AT_ONCE)
    await client.query("insert into bulk (v) select v from pool");
  await snapshot(pilvi, source);
  const [start] = (await client.query<{ lsn: string }>("select pg_current_wal_lsn() lsn")).rows;
  for (let bytes = 0; bytes < LOG * 1024 ** 2; bytes = await logSince(client, start?.lsn ?? "0/0"))
    await change(client);
  const at = new Date(await clockOf(client)).toISOString();
  // A commit after the instant, at which the replay ends.
  await until("a commit is later than the instant", async () => {
    await change(client);
    return (await clockOf(client)) > Date.parse(at);
  });
  await client.end();
  await until(
    "the log is in the archive",
    async () => {
      const { body } = await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${source.id}`);
      const latest = body.data.meta.backup?.latest_restore_time ?? "";
      return Date.parse(latest) > Date.parse(at);
    },
    MAX_MS,
  );
  return at;
}

/** Two thirds of a row are spaces, which compression leaves as little of as of the data of customers. */
function values(rows: number): string {
  const value = "md5(random()::text) || md5(random()::text) || md5(random()::text) || repeat(' ', 192)";
  return `select ${value} as v from generate_series(1, ${rows})`;
}

async function change(client: Client): Promise<void> {
  await client.query("begin");
  await client.query(`insert into bulk (v) ${values(CHANGED_ROWS)}`);
  const ids = `select (random() * ${SIZE * ROWS_PER_MEGABYTE})::bigint from generate_series(1, ${CHANGED_ROWS})`;
  await client.query(`update bulk set v = v || '.' where id = any (array(${ids}))`);
  await client.query("commit");
}

async function logSince(client: Client, lsn: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    "select pg_current_wal_lsn() - $1::pg_lsn as bytes",
    [lsn],
  );
  return Number(rows[0]?.bytes);
}

async function clockOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ now: Date }>("select clock_timestamp() as now");
  return Number(rows[0]?.now);
}

async function snapshot(pilvi: TestPilvi, { id }: DatabaseClusterResource): Promise<void> {
  const path = `/databases/clusters/${id}/snapshots`;
  const { body } = await pilvi.api<SnapshotDocument>("POST", path, { name: "base" });
  const place = `/database-snapshots/${body.data.id}?wait=available`;
  const isThere = async () => {
    const { data } = (await pilvi.api<SnapshotDocument>("GET", place)).body;
    if (data.attributes.status === "failed") throw new Error(`no snapshot: ${data.meta.last_error}`);
    return data.attributes.status === "available";
  };
  await until("the snapshot is available", isThere, MAX_MS);
}

/** @returns milliseconds from the request to the answer that says `available`, which comes after a login. */
async function restore(pilvi: TestPilvi, { id }: DatabaseClusterResource, at: string): Promise<number> {
  const startedAt = performance.now();
  const { status, body } = await pilvi.api<ClusterDocument>("POST", `/databases/clusters/${id}/restore`, {
    name: "restored",
    restore_time: at,
  });
  if (status !== 201) throw new Error(`no restore: ${status} ${JSON.stringify(body)}`);
  await untilCluster(pilvi, body.data.id, "available", {}, MAX_MS);
  const ms = performance.now() - startedAt;
  await deleteCluster(pilvi, body.data.id);
  return ms;
}

// A Postgres that vacuums its tables by itself is not suspended in the middle of it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connectPgAdmin, createCluster, firstOf, startDatabases } from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases();
});
afterAll(async () => {
  await pilvi.close();
});

test("a cluster with a working autovacuum stays awake until it has ended", async () => {
  const cluster = await createCluster(pilvi);
  const sleeper = new Sleeper(pilvi, cluster);
  const admin = await connectPgAdmin(pilvi, cluster, "main");
  // As slow as possible, so that it does not end by itself during the test.
  await admin.query(`
    create table t (a int) with (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`);
  await admin.query("insert into t select generate_series(1, 50000)");
  await admin.query("delete from t");
  await admin.query("alter system set autovacuum_naptime = '1s'");
  await admin.query("select pg_reload_conf()");
  const workers =
    "select count(*)::int from pg_stat_activity where backend_type = 'autovacuum worker' and query like '%.t%'";
  await until("it vacuums", async () => (await firstOf(admin, workers)) === 1, 90_000);
  const { status, body } = await sleeper.suspend();
  expect({ status, body }).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("vacuums") },
  });
  await admin.query("alter system set autovacuum = off");
  await admin.query("alter table t reset (autovacuum_vacuum_cost_delay, autovacuum_vacuum_cost_limit)");
  await admin.query("select pg_reload_conf()");
  await until("it has ended", async () => (await firstOf(admin, workers)) === 0);
  await admin.end();
  await sleeper.sleep();
});

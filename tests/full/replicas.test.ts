// Read replicas of a cluster that changes in every way, whose log has a gap, and whose processes are killed.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import type { DatabaseMetrics } from "../../src/resources/databases/metrics/schema.ts";
import {
  connectPg,
  createCluster,
  deleteCluster,
  firstOf,
  processesOf,
  startDatabases,
  untilCluster,
} from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive, killIfThere } from "../support/pilvi/processes.ts";
import { ReplicatedCluster } from "../support/pilvi/replicas.ts";

const CONFIG = { uses_pitr: true, deployment_option: "single-az-with-read-replicas", read_replicas: 1 };

let pilvi: TestPilvi;
let cluster: ReplicatedCluster;

beforeAll(async () => {
  pilvi = await startDatabases();
  const made = await createCluster(pilvi, {
    type: "provider_managed_postgres",
    name: "full",
    config: { ...CONFIG, size: "db.t4g.small" },
  });
  cluster = new ReplicatedCluster(pilvi, made);
  await cluster.begin(1);
}, 300_000);
afterAll(() => pilvi.close());

/** Logs into an instance of the cluster as the host does. */
async function admin(id: string, port: number): Promise<Client> {
  return await connectPg(await cluster.read(), {
    host: join(cluster.folderOf(id), "run"),
    port,
    user: "pilvi_admin",
    database: "postgres",
  });
}

test.each(["db.t4g.micro", "db.t4g.medium"])("a replica follows its cluster to the size %s", async (size) => {
  const { id, port } = await cluster.firstReplica();
  await cluster.change({ size });
  const { meta } = await untilCluster(pilvi, cluster.id, "available");
  await cluster.run("insert into kept select generate_series(1, 1000)");
  await cluster.untilShown(port);
  const sessions = async () => {
    const client = await admin(id, port);
    const setting = Number(await firstOf(client, "show max_connections"));
    await client.end();
    return setting;
  };
  const least = meta.limits?.max_connections ?? 0;
  expect(least).toBeGreaterThan(100);
  await until("it has as many connections", async () => (await sessions().catch(() => 0)) >= least);
});

/** Has the log of the cluster go on where the keeper does not get it: a part is lost for the archive. */
async function loseLog(): Promise<void> {
  const keeper = pilvi.pidOf("keeper");
  if (keeper === undefined) throw new Error("there is no keeper");
  process.kill(keeper, "SIGSTOP");
  const client = await admin(cluster.id, cluster.port);
  await client.query("select pg_drop_replication_slot('pilvi')");
  for (let round = 0; round < 4; round += 1) {
    await client.query("select pg_logical_emit_message(false, 'filler', repeat('x', 4000000))");
    await client.query("select pg_switch_wal()");
    await client.query("checkpoint");
  }
  await client.end();
  process.kill(keeper, "SIGCONT");
}

test("a replica is built anew at its address after a gap in the log", async () => {
  const { id, port } = await cluster.firstReplica();
  const control = join(cluster.folderOf(id), "data", "PG_VERSION");
  const former = statSync(control).ino;
  await loseLog();
  await cluster.run("insert into kept values (7)");
  // The next scheduled backup would come some minutes later.
  const path = `/databases/clusters/${cluster.id}/snapshots`;
  expect((await pilvi.api("POST", path, { name: "after the gap" })).status).toBe(201);
  await cluster.untilShown(port);
  expect(statSync(control).ino).not.toBe(former);
  expect((await cluster.firstReplica()).id).toBe(id);
});

test("a replica is at its address again after a kill of its engine, the host or the keeper", async () => {
  const { id, port } = await cluster.firstReplica();
  for (const pid of processesOf(pilvi, id)) killIfThere(pid);
  await cluster.run("insert into kept values (3)");
  await cluster.untilShown(port);
  await pilvi.kill("host");
  await cluster.run("insert into kept values (4)");
  await cluster.untilShown(port);
  await pilvi.kill("keeper");
  await cluster.run("insert into kept values (5)");
  await cluster.untilShown(port);
});

test("a rotated password is that of the replica, too", async () => {
  const { port } = await cluster.firstReplica();
  const path = `/databases/clusters/${cluster.id}/rotate-credentials`;
  expect((await pilvi.api("POST", path, { grace_seconds: 0 })).status).toBe(200);
  await untilCluster(pilvi, cluster.id, "available");
  await cluster.read();
  await cluster.untilShown(port);
});

test("the metrics of the cluster have the lag by minute", async () => {
  const path = `/databases/clusters/${cluster.id}/metrics?period=6h`;
  const points = async () => {
    const { body } = await pilvi.api<{ data: DatabaseMetrics["data"] }>("GET", path);
    return body.data.replica_lag.data.length;
  };
  await until("a minute has ended", async () => (await points()) > 0, 150_000);
});

test("a keeper that is away shows as a lag that grows", async () => {
  // Nobody starts it again meanwhile.
  process.kill(pilvi.pid, "SIGSTOP");
  try {
    pilvi.kill("keeper");
    await until("the lag grows", async () => ((await cluster.firstReplica()).lag_seconds ?? 0) >= 4);
  } finally {
    process.kill(pilvi.pid, "SIGCONT");
  }
  await until("the lag is over", async () => ((await cluster.firstReplica()).lag_seconds ?? 99) <= 2);
});

test("a replica without its mark does not become a database of its own", async () => {
  const { id, port } = await cluster.firstReplica();
  rmSync(join(cluster.folderOf(id), "data", "standby.signal"));
  for (const pid of processesOf(pilvi, id)) killIfThere(pid);
  await until("it is refused", async () => (await cluster.firstReplica()).status === "unavailable");
  await until("it says why", async () =>
    /no longer that of a replica/.test((await cluster.firstReplica()).last_error ?? ""),
  );
  await expect(cluster.run("select 1", port)).rejects.toThrow();
  expect(processesOf(pilvi, id)).toEqual([]);
  await until("its lag is not known", async () => (await cluster.firstReplica()).lag_seconds === null);
});

test("the number of replicas grows and shrinks, and nothing is left of a deleted cluster", async () => {
  const former = await cluster.firstReplica();
  const storageOf = async () => (await cluster.read()).meta.storage_bytes ?? 0;
  const formerBytes = await storageOf();
  expect(await cluster.change({ deployment_option: "single-az", read_replicas: null })).toBe(200);
  await until("there is no replica", async () => (await cluster.read()).meta.replicas.length === 0);
  expect(existsSync(cluster.folderOf(former.id))).toBe(false);
  await until("the cluster takes less of the disk", async () => (await storageOf()) < formerBytes * 0.8);
  expect(await cluster.change(CONFIG)).toBe(200);
  expect(await cluster.change({ read_replicas: 2 })).toBe(200);
  const replicas = await cluster.untilAvailable(2);
  for (const { port } of replicas) await cluster.untilShown(port);
  const pids = replicas.flatMap(({ id }) => processesOf(pilvi, id));
  await deleteCluster(pilvi, cluster.id);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(replicas.filter(({ id }) => existsSync(cluster.folderOf(id)))).toEqual([]);
});

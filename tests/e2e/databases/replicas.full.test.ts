// The life of a read replica of a managed Postgres; what may happen to it is in tests/full.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createCluster, deleteCluster, processesOf, startDatabases } from "../../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { isAlive } from "../../support/pilvi/processes.ts";
import { ReplicatedCluster } from "../../support/pilvi/replicas.ts";

const CONFIG = { uses_pitr: true, deployment_option: "single-az-with-read-replicas", read_replicas: 1 };

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases();
});
afterAll(() => pilvi.close());

test("a replica shows commits of its cluster, takes no writes, and goes with its cluster", async () => {
  const order = { type: "provider_managed_postgres", name: "replicated", config: CONFIG };
  const cluster = new ReplicatedCluster(pilvi, await createCluster(pilvi, order));
  await cluster.begin(1);
  const { id, port } = await cluster.firstReplica();
  expect(port).not.toBe(cluster.port);
  await cluster.run("insert into kept select generate_series(1, 1000)");
  await cluster.untilShown(port);
  await until("the lag is known", async () => ((await cluster.firstReplica()).lag_seconds ?? 99) <= 5);
  await expect(cluster.run("insert into kept values (2)", port)).rejects.toThrow("read-only transaction");
  await expect(
    cluster.run("set transaction_read_only = off; insert into kept values (2)", port),
  ).rejects.toThrow();
  const pids = processesOf(pilvi, id);
  await deleteCluster(pilvi, cluster.id);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(existsSync(cluster.folderOf(id))).toBe(false);
});

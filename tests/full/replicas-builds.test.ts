// A rotation while a read replica is built, which takes as long as its data is large, locks nobody out of the others.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connectPg, createCluster, startDatabases, untilCluster } from "../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { ReplicatedCluster } from "../support/pilvi/replicas.ts";

const CONFIG = { uses_pitr: true, deployment_option: "single-az-with-read-replicas", read_replicas: 1 };

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let cluster: ReplicatedCluster;

beforeAll(async () => {
  // A verification comes to the steps of a restore as well.
  pilvi = await startDatabases({ ...failpoints.env, PILVI_BACKUP_VERIFICATION_SECONDS: "0" });
  const order = { type: "provider_managed_postgres", name: "built", config: CONFIG };
  cluster = new ReplicatedCluster(pilvi, await createCluster(pilvi, order));
  await cluster.begin(1);
}, 300_000);
afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

test("a rotated password is that of a replica that works while another is built", async () => {
  const { port } = await cluster.firstReplica();
  const former = await cluster.read();
  failpoints.arm("host.restore.planned");
  expect(await cluster.change({ read_replicas: 2 })).toBe(200);
  await failpoints.reached();
  const path = `/databases/clusters/${cluster.id}/rotate-credentials`;
  expect((await pilvi.api("POST", path, { grace_seconds: 0 })).status).toBe(200);
  await untilCluster(pilvi, cluster.id, "available");
  await cluster.read();
  await cluster.untilShown(port);
  await expect(connectPg(former, { port })).rejects.toThrow("password authentication failed");
  const { replicas } = (await cluster.read()).meta;
  expect(replicas.map(({ status }) => status)).toEqual(["available", "creating"]);
});

// A keeper that hangs: what is not stored any more lags behind, with its alarm, and a cluster that sleeps does not.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { createCluster, startDatabases, type ClusterDocument } from "../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";

/** The alarm comes after a minute, and the request that the host leaves open takes another. */
const ALARM_MS = 180_000;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});

afterAll(() => pilvi.close());

async function withWindow(name: string, suspendSeconds: number): Promise<DatabaseClusterResource> {
  const config = { retention_days: 1, suspend_seconds: suspendSeconds };
  const cluster = await createCluster(pilvi, { name, config });
  await until("the window begins", async () => (await read(cluster)).attributes.supports_pitr === "true");
  return cluster;
}

async function read({ id }: DatabaseClusterResource): Promise<DatabaseClusterResource> {
  return (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${id}`)).body.data;
}

async function lagOf(cluster: DatabaseClusterResource): Promise<number> {
  return (await read(cluster)).meta.backup?.lag_seconds ?? -1;
}

test(
  "a keeper that hangs shows as a lag of what is awake, with its alarm, and as an error of all",
  async () => {
    const awake = await withWindow("awake", 0);
    const asleep = await withWindow("asleep", 60);
    await pilvi.api("POST", `/databases/clusters/${asleep.id}/suspend`);
    await until("it sleeps, and all of its log is stored", async () => {
      const { sleep, backup } = (await read(asleep)).meta;
      return sleep.state === "asleep" && (backup?.latest_restore_time ?? "") > (sleep.since ?? "~");
    });
    await until("all is stored", async () => (await lagOf(awake)) === 0);
    const keeper = pilvi.runningPid("keeper");
    process.kill(keeper, "SIGSTOP");
    try {
      await until("the lag grows", async () => (await lagOf(awake)) > 20);
      const { meta } = await read(asleep);
      expect(meta.backup).toMatchObject({
        lag_seconds: 0,
        last_error: expect.stringContaining("Backups cannot be stored"),
      });
      const events = `/events?filter[resource]=${awake.id}&filter[type]=backup.lagging`;
      const lagging = async () => (await pilvi.api<{ data: unknown[] }>("GET", events)).body.data.length;
      await until("the alarm is raised", async () => (await lagging()) === 1, ALARM_MS);
    } finally {
      process.kill(keeper, "SIGCONT");
    }
    await until("the lag is over", async () => (await lagOf(awake)) <= 2);
    expect((await read(awake)).meta.backup?.last_error).toBeNull();
  },
  ALARM_MS + 120_000,
);

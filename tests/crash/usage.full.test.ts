// The usage of a Postgres that sleeps, wakes and crashes matches the lifetimes of its processes, over kills of host and
// control plane.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { UsageResource } from "../../src/resources/shared/usage-schema.ts";
import { connectPg, createCluster, untilCluster } from "../support/pilvi/databases.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { ProcessLives } from "./process-lives.ts";

const MEBIBYTES = 2_048;

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

async function usageOf(id: string): Promise<UsageResource> {
  const path = `/usage?filter[resource]=${id}`;
  const { status, body } = await pilvi.api<{ data: UsageResource[] }>("GET", path);
  if (status !== 200) throw new Error(`no usage: ${status}`);
  return body.data[0] ?? expect.unreachable();
}

test("the time awake is that of the engine's processes, and the time asleep is the rest", async () => {
  const createdMs = Date.now();
  const cluster = await createCluster(pilvi, { config: { cu_max: 0.5 } });
  const { id } = cluster;
  const lives = new ProcessLives(pilvi, id);
  const suspend = () =>
    until("it sleeps", async () => {
      const answer = await pilvi.api("POST", `/databases/clusters/${id}/suspend`).catch(() => undefined);
      return answer?.status === 200;
    });
  const use = () =>
    until("a client is served", async () => {
      const client = await connectPg(cluster).catch(() => undefined);
      await client?.end();
      return client !== undefined;
    });
  const kills: (() => void)[] = [
    () => pilvi.kill("host"),
    () => pilvi.kill("control"),
    () => {
      pilvi.kill("control");
      killIfThere(pilvi.enginePids(id)[0]);
    },
    () => {
      pilvi.kill("host");
      pilvi.kill("control");
    },
  ];
  for (const kill of kills) {
    await use();
    kill();
    await pilvi.untilReady();
    await use();
    await untilCluster(pilvi, id, "available");
    await suspend();
  }
  await until("its last process has ended", () => !lives.isAnyAlive);
  lives.stop();
  let usage = await usageOf(id);
  await until("all ends are counted", async () => {
    const former = usage.attributes.totals;
    usage = await usageOf(id);
    return (
      former.awake_ms === usage.attributes.totals.awake_ms &&
      usage.attributes.totals.asleep_ms > former.asleep_ms
    );
  });
  const { totals } = usage.attributes;
  expect(lives.ended.length).toBeGreaterThanOrEqual(kills.length + 1);
  expect(totals.awake_ms).toBeLessThanOrEqual(lives.bounds.mostMs);
  expect(totals.awake_ms + totals.uncertain_ms).toBeGreaterThanOrEqual(lives.bounds.leastMs);
  const perSecond = MEBIBYTES / 1_000;
  expect(totals.awake_mib_seconds).toBeLessThanOrEqual(totals.awake_ms * perSecond);
  expect(totals.awake_mib_seconds).toBeGreaterThan(totals.awake_ms * perSecond - 3);
  expect(totals.compute_unit_seconds).toBe(Math.floor(totals.awake_mib_seconds / 4_096));
  expect(totals.asleep_ms + totals.awake_ms + totals.uncertain_ms).toBeLessThanOrEqual(
    Date.now() - createdMs,
  );
  expect(totals.is_complete).toBe(true);
  const cache = await pilvi.createCache({});
  await pilvi.api("DELETE", `/databases/clusters/${id}`);
  await until("it is gone", async () => (await pilvi.api("GET", `/databases/clusters/${id}`)).status === 404);
  const after = await usageOf(id);
  expect(after.attributes.deleted_at).not.toBeNull();
  expect(after.attributes.totals.awake_ms).toBe(totals.awake_ms);
  expect((await usageOf(cache.id)).attributes.totals.awake_ms).toBeGreaterThan(0);
}, 240_000);

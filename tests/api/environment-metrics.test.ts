// Metrics of environments: the readings of processes counted for what they run for, over releases and for their owner.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Reading } from "../../src/contracts/readings.ts";
import type { EnvironmentMetrics } from "../../src/resources/applications/metrics/schema.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { newApplication } from "../support/api/applications-api.ts";

const MINUTE = 60_000;

let api: TestApi;
let environmentId: string;
let instanceId: string;
let instanceName: string;

beforeAll(async () => {
  api = await startApi();
  ({ environmentId } = await newApplication(api));
  await api.db`update environments set created_at = now() - interval '1 day' where id = ${environmentId}`;
  const answer = await api.request(`/api/environments/${environmentId}/instances`);
  const { data } = (await answer.json()) as { data: { id: string; attributes: { name: string } }[] };
  instanceId = data[0]?.id ?? "";
  instanceName = data[0]?.attributes.name ?? "";
  await api.db`
    insert into deployments (id, environment_id, status, branch, settings)
    values ('depl-metrics', ${environmentId}, 'pending', 'main', '{}')`;
  await api.db`
    insert into background_processes (id, process_group_id, type, processes, command, procfile_name)
    values ('process-metrics', ${instanceId}, 'custom', 1, 'bun worker.ts', 'worker')`;
});

afterAll(async () => await api.stop());

/** Adds a process as a deployment places it. */
async function addProcess(id: string, background: string | null = null): Promise<void> {
  await api.db`
    insert into instances (id, kind, resource_id, host_id) values (${id}, 'environments', ${environmentId}, 'host-1')`;
  await api.db`
    insert into application_processes
      (id, environment_id, deployment_id, sealed_spec, digest, state, background_process_id)
    values (${id}, ${environmentId}, 'depl-metrics', '', '', 'serving', ${background})`;
}

function reading(id: string, cpuMs: number, memoryBytes: number): Reading {
  return { id, awakeMs: MINUTE, computeMs: MINUTE, cpuMs, memoryBytes, wakes: 0 };
}

async function metrics(): Promise<EnvironmentMetrics> {
  const response = await api.request(`/api/environments/${environmentId}/metrics`);
  expect(response.status).toBe(200);
  return (await response.json()) as EnvironmentMetrics;
}

test("replicas count together, a worker has a label of its own, and a replaced process stays counted", async () => {
  await addProcess("proc-one");
  await addProcess("proc-two");
  await addProcess("proc-worker", "process-metrics");
  const nowMs = Date.now() - (Date.now() % MINUTE);
  const at = (ago: number) => new Date(nowMs - ago * MINUTE).toISOString();
  const first = {
    at: at(4),
    readings: [
      reading("proc-one", 6_000, 100),
      reading("proc-two", 12_000, 50),
      reading("proc-worker", 600, 7),
    ],
  };
  await takeReadings(api.db, "host-1", [first], Date.now());
  await api.db`delete from instances where id in ('proc-one', 'proc-two', 'proc-worker')`;
  await addProcess("proc-three");
  const second = { at: at(3), readings: [reading("proc-three", 3_000, 40)] };
  const asleep = { at: at(2), readings: [] };
  await takeReadings(api.db, "host-1", [first, second, asleep], Date.now());
  const { data, meta } = await metrics();
  expect(data.cpu_usage.labels).toEqual([instanceName, "worker"]);
  expect(data.memory_usage.labels).toEqual([instanceName, "worker"]);
  expect(data.cpu_usage.data).toEqual([
    { x: at(4), y: [0.3, 0.01] },
    { x: at(3), y: [0.05, 0] },
    { x: at(2), y: [0, 0] },
  ]);
  expect(data.memory_usage.data.map(({ y }) => y)).toEqual([
    [150, 7],
    [40, 0],
    [0, 0],
  ]);
  expect(data.replica_count.data.map(({ y }) => y)).toEqual([[2], [1], [0]]);
  expect(data.replica_count.average).toEqual([1]);
  expect(meta).toMatchObject({ period: "6h", available_periods: ["6h", "24h", "3d", "7d", "30d", "1y"] });
});

test("an unknown period is refused, another organization has no such environment, and reading is an ability", async () => {
  const path = `/api/environments/${environmentId}/metrics`;
  expect((await api.request(`${path}?period=1h`)).status).toBe(422);
  const other = await api.newToken(["*"], "elsewhere");
  expect((await api.request(path, { token: other })).status).toBe(404);
  const blind = await api.newToken(["caches:read"]);
  expect((await api.request(path, { token: blind })).status).toBe(403);
});

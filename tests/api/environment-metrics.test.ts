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

async function metrics(query = ""): Promise<EnvironmentMetrics> {
  const response = await api.request(`/api/environments/${environmentId}/metrics${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as EnvironmentMetrics;
}

test("replicas count together, a worker has a label of its own, and a replaced process stays counted", async () => {
  await addProcess("proc-one");
  await addProcess("proc-two");
  await addProcess("proc-worker", "process-metrics");
  const nowMs = Math.floor(Date.now() / MINUTE) * MINUTE;
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
  expect(data.awake.data.map(({ y }) => y)).toEqual([[1], [1], [0]]);
  expect(meta).toMatchObject({ period: "6h", available_periods: ["6h", "24h", "3d", "7d", "30d", "1y"] });
});

test("answers are counted by their status and timed, also while no process runs, and coarser steps add them up", async () => {
  const nowMs = Math.floor(Date.now() / MINUTE) * MINUTE;
  // Both minutes are in the same hour.
  const hourMs = nowMs - (nowMs % (60 * MINUTE)) - 60 * MINUTE;
  const at = (minute: number) => new Date(hourMs + minute * MINUTE).toISOString();
  const asleep = { id: environmentId, awakeMs: 0, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0 };
  const counted = { responses2xx: 90, responses4xx: 9, responses5xx: 1 };
  const first = { ...asleep, ...counted, responsesIn10ms: 96, responsesIn500ms: 4, responseMs: 2_000 };
  const second = { ...asleep, responses2xx: 5, responses3xx: 5, responsesLater: 10, responseMs: 900_000 };
  const batches = [
    { at: at(10), readings: [first] },
    { at: at(11), readings: [second] },
    { at: at(12), readings: [] },
  ];
  await takeReadings(api.db, "host-1", batches, Date.now());
  // What a host sends again is not counted again.
  await takeReadings(api.db, "host-1", batches, Date.now());
  const { data } = await metrics();
  const among = ({ x }: { x: string }) => x >= at(10) && x <= at(12);
  expect(data.http_response_count.labels).toEqual(["2xx", "3xx", "4xx", "5xx"]);
  expect(data.http_response_count.data.filter(among)).toEqual([
    { x: at(10), y: [90, 0, 9, 1] },
    { x: at(11), y: [5, 5, 0, 0] },
    { x: at(12), y: [0, 0, 0, 0] },
  ]);
  expect(data.http_response_time.labels).toEqual(["average", "p50", "p95", "p99"]);
  expect(data.http_response_time.data.filter(among)).toEqual([
    { x: at(10), y: [20, 7.60417, 9.94792, 425] },
    // The last counter has no longest time, so its shortest is the most that is known.
    { x: at(11), y: [90_000, 30_000, 30_000, 30_000] },
  ]);
  expect(data.awake.data.filter(among).map(({ y }) => y)).toEqual([[0], [0], [0]]);
  expect(data.replica_count.data.filter(among).map(({ y }) => y)).toEqual([[0], [0], [0]]);

  const hourly = await metrics("?period=3d&step=1h");
  const inHour = hourly.data.http_response_count.data.find(({ x }) => x === new Date(hourMs).toISOString());
  expect(inHour?.y).toEqual([95, 5, 9, 1]);
  const times = hourly.data.http_response_time.data.find(({ x }) => x === new Date(hourMs).toISOString());
  expect(times?.y).toEqual([8_200, 7.86458, 30_000, 30_000]);
});

test("an unknown period is refused, another organization has no such environment, and reading is an ability", async () => {
  const path = `/api/environments/${environmentId}/metrics`;
  expect((await api.request(`${path}?period=1h`)).status).toBe(422);
  const other = await api.newToken(["*"], "elsewhere");
  expect((await api.request(path, { token: other })).status).toBe(404);
  const blind = await api.newToken(["caches:read"]);
  expect((await api.request(path, { token: blind })).status).toBe(403);
});

// Metrics of a deployed application: what its processes really had, and the requests that it really answered.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PilviClient } from "../../src/sdk/index.ts";
import { bunServer, TestApplication } from "../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, TOKEN, until } from "../support/pilvi/pilvi.ts";

/** A minute must end, and a busy machine needs some time to take it. */
const MINUTE_TIMEOUT_MS = 150_000;

/** Each request for work takes half a second of processor time; a worker beside it waits. A number is a status. */
const SERVER = `
  Bun.serve({
    port: Number(process.env.PORT),
    hostname: "127.0.0.1",
    fetch(request) {
      const path = new URL(request.url).pathname.slice(1);
      if (/^\\d+$/.test(path)) return new Response(null, { status: Number(path) });
      if (path !== "work") return new Response("ready");
      const before = process.cpuUsage();
      while (process.cpuUsage(before).user < 500_000);
      return new Response("counted");
    },
  });
`;

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  await application.deploy({
    ...bunServer("busy"),
    "server.ts": SERVER,
    "worker.ts": "setInterval(() => {}, 1_000);",
    Procfile: "worker: bun worker.ts\n",
  });
}, 120_000);

afterAll(async () => await pilvi.close());

test("the work of requests is in the metrics of the instance a minute later, and not in those of its worker", async () => {
  const client = new PilviClient({ url: pilvi.url, token: TOKEN });
  const environments = client.applications.environments(application.id);
  for (let asked = 0; asked < 4; asked += 1)
    expect(await (await application.fetch("/work")).text()).toBe("counted");
  const read = async () => (await environments.metrics(application.environmentId, "6h")).data;
  /** The seconds that each label took of a processor. */
  const seconds = async () => {
    const { labels, data } = (await read()).cpu_usage;
    return labels.map((_, index) => data.reduce((sum, { y }) => sum + (y[index] ?? 0) * 60, 0));
  };
  const slowestMs = async () => Math.max(...(await read()).http_response_time.data.map(({ y }) => y[3] ?? 0));
  await until("the requests are counted", async () => ((await seconds())[0] ?? 0) >= 2, MINUTE_TIMEOUT_MS);
  await until("their times are there", async () => (await slowestMs()) > 200, MINUTE_TIMEOUT_MS);
  const [ofServer = 0, ofWorker = 0] = await seconds();
  expect(ofServer).toBeGreaterThan(ofWorker);
  const { cpu_usage: cpu, memory_usage: memory, replica_count: replicas } = await read();
  expect(cpu.labels[1]).toBe("worker");
  expect(memory.labels).toEqual(cpu.labels);
  expect(memory.data.at(-1)?.y).toEqual([expect.any(Number), expect.any(Number)]);
  // The processes may have begun shortly before the end of the minute, whose mean it is.
  expect(Math.min(...(memory.data.at(-1)?.y ?? []))).toBeGreaterThan(0);
  expect(replicas.data.at(-1)?.y[0]).toBeGreaterThan(0);
  expect(replicas.data.at(-1)?.y[0]).toBeLessThanOrEqual(1);
}, 320_000);

test("answers are in the metrics by their status, each once, also those before and after a kill of the host", async () => {
  const client = new PilviClient({ url: pilvi.url, token: TOKEN });
  const environments = client.applications.environments(application.id);
  const read = async () => (await environments.metrics(application.environmentId, "6h")).data;
  const counted = async () => {
    const { labels, data } = (await read()).http_response_count;
    expect(labels).toEqual(["2xx", "3xx", "4xx", "5xx"]);
    return labels.map((_, index) => data.reduce((sum, { y }) => sum + (y[index] ?? 0), 0));
  };
  const ask = async (...statuses: number[]) => {
    for (const status of statuses) expect((await application.fetch(`/${status}`)).status).toBe(status);
  };
  // Four requests for work came before.
  await ask(200, 302, 404, 422, 503);
  pilvi.kill("host");
  await ask(204, 404);
  await until("all are counted", async () => (await counted()).join() === "6,1,3,1", MINUTE_TIMEOUT_MS);
  const { http_response_time: times, awake } = await read();
  expect(times.labels).toEqual(["average", "p50", "p95", "p99"]);
  for (const { y } of times.data) expect(y[1]).toBeLessThanOrEqual(y[2] ?? 0);
  expect(awake.data.at(-1)?.y[0]).toBeGreaterThan(0);
}, 200_000);

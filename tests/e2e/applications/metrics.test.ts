// Metrics of a deployed application: the processor time, the memory and the replicas that its processes really had.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { PilviClient } from "../../../src/sdk/index.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, TOKEN, until } from "../../support/pilvi/pilvi.ts";

/** A minute must end, and a busy machine needs some time to take it. */
const MINUTE_TIMEOUT_MS = 150_000;

/** Each request for work takes half a second of processor time; a worker beside it waits. */
const SERVER = `
  Bun.serve({
    port: Number(process.env.PORT),
    hostname: "127.0.0.1",
    fetch(request) {
      if (new URL(request.url).pathname !== "/work") return new Response("ready");
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
  await until("the requests are counted", async () => ((await seconds())[0] ?? 0) >= 2, MINUTE_TIMEOUT_MS);
  const [ofServer = 0, ofWorker = 0] = await seconds();
  expect(ofServer).toBeGreaterThan(ofWorker);
  const { cpu_usage: cpu, memory_usage: memory, replica_count: replicas } = await read();
  expect(cpu.labels[1]).toBe("worker");
  expect(memory.labels).toEqual(cpu.labels);
  expect(memory.data.at(-1)?.y).toEqual([expect.any(Number), expect.any(Number)]);
  expect(Math.min(...(memory.data.at(-1)?.y ?? []))).toBeGreaterThan(1_000_000);
  expect(replicas.data.at(-1)?.y[0]).toBeGreaterThan(0);
  expect(replicas.data.at(-1)?.y[0]).toBeLessThanOrEqual(1);
}, 200_000);

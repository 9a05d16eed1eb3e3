// Metrics of WebSocket clusters and applications, for their customers and for Prometheus.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { Reading } from "../../src/contracts/readings.ts";
import type { Driver } from "../../src/drivers/driver.ts";
import { PublicError } from "../../src/lib/errors.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import { sleepGauges } from "../../src/resources/shared/sleep-gauges.ts";
import { clusterGauges } from "../../src/resources/websockets/gauges.ts";
import type { WebsocketMetrics } from "../../src/resources/websockets/schema.ts";
import { startApi, validCache, validServer, type TestApi } from "../support/api/api.ts";
import { becomes } from "../support/api/resources-api.ts";
import { observed } from "../support/api/resources-api.ts";
import { APPLICATIONS, asker, newWebSocketCluster, SERVERS } from "../support/api/websockets-api.ts";

let api: TestApi;
let server: string;
let application: string;

beforeAll(async () => {
  api = await startApi();
  api.app.metrics.addFigures(clusterGauges, api.context);
  api.app.metrics.addFigures(sleepGauges, api.context);
});
afterAll(() => api.stop());
beforeEach(async () => {
  ({
    id: server,
    application: { id: application },
  } = await newWebSocketCluster(api));
});

const ask = asker(() => api);
const metrics = (address: string) => ask<WebsocketMetrics & { errors?: object }>(address);
const becomeAvailable = () => becomes(api, "websockets", server, "available");
const page = async (token: string | null = api.token) =>
  await (await api.request("/metrics", { token })).text();
const drive = (parts: Partial<Driver>) => Object.assign(api.host.driver, parts);

const MINUTE_MS = 60_000;
/** The minute in which the tests began. */
const PRESENT_MS = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
/** The beginning of a minute, so many minutes before that. */
const minuteMs = (back: number) => PRESENT_MS - back * MINUTE_MS;

function reading(id: string, figures: Partial<Reading>): Reading {
  return { id, awakeMs: MINUTE_MS, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0, ...figures };
}

/** Takes the readings of a minute, with figures by the id of a cluster or an application. */
async function measure(back: number, figures: Record<string, Partial<Reading>>): Promise<void> {
  const readings = Object.entries(figures).map(([id, own]) => reading(id, own));
  await takeReadings(
    api.db,
    "host-1",
    [{ at: new Date(minuteMs(back)).toISOString(), readings }],
    Date.now(),
  );
}

/** Has the cluster and its application be older than all metrics of a test. */
async function grow(): Promise<void> {
  await api.db`update websocket_servers set created_at = now() - interval '400 days' where id = ${server}`;
  await api.db`update websocket_applications set created_at = now() - interval '400 days' where id = ${application}`;
}

describe("metrics of a WebSocket cluster", () => {
  test("have the shape that clients know, whether the cluster runs or not", async () => {
    await grow();
    await measure(3, {
      [server]: {
        connections: 4,
        messagesReceived: 20,
        messagesSent: 40,
        cpuMs: 30_000,
        memoryBytes: 9_000,
        apiRequests: 6,
        webhooksDelivered: 12,
        webhooksFailed: 3,
        webhooksDropped: 0,
        storageBytes: 5,
      },
    });
    // A minute in which the process did not run, and then one in which it ran.
    await measure(2, {});
    await measure(1, { [server]: { connections: 2, messagesReceived: 0, messagesSent: 0 } });
    const { status, headers, body } = await metrics(`${SERVERS}/${server}/metrics`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    const [first, last] = [3, 1].map((back) => new Date(minuteMs(back)).toISOString());
    expect(body.data.connection_count).toEqual({
      labels: ["connections"],
      average: [3],
      data: [
        { x: first ?? "", y: [4] },
        { x: last ?? "", y: [2] },
      ],
    });
    expect(body.data.message_rate).toEqual({
      labels: ["messages_per_second"],
      average: [0.5],
      data: [
        { x: first ?? "", y: [1] },
        { x: last ?? "", y: [0] },
      ],
    });
    expect(body.data.messages.data[0]?.y).toEqual([0.333333, 0.666667]);
    expect(body.data.api_requests.data[0]?.y).toEqual([0.1]);
    expect(body.data.webhooks.data[0]?.y).toEqual([0.2, 0.05, 0]);
    expect(body.data.cpu_usage.data[0]?.y).toEqual([0.5]);
    expect(body.data.memory_usage.data[0]?.y).toEqual([9_000]);
    expect(body.data.storage_usage.data.map(({ y }) => y)).toEqual([[5], [5], [5]]);
    expect(body.meta).toEqual({
      period: "6h",
      step: "1m",
      available_periods: ["6h", "24h", "3d", "7d", "30d", "1y"],
      available_steps: ["1m", "5m", "15m", "30m", "1h", "2h"],
    });
  });

  test("of an application are its own, and end with it", async () => {
    await grow();
    await measure(1, {
      [server]: { connections: 9, messagesReceived: 60, messagesSent: 0 },
      [application]: { connections: 3, messagesReceived: 30, messagesSent: 0 },
    });
    const { body } = await metrics(`${APPLICATIONS}/${application}/metrics?period=1y`);
    expect(body.data.connection_count.average).toEqual([3]);
    expect(body.data.message_rate.average).toEqual([0.5]);
    expect(Object.keys(body.data)).not.toContain("cpu_usage");
    await api.db`
      insert into metrics_days (resource_id, at, minutes, connections) values (${application}, '2026-01-01Z', 1440, 5)`;
    expect((await api.request(`${APPLICATIONS}/${application}`, { method: "DELETE" })).status).toBe(204);
    await measure(0, { [application]: { connections: 3 } });
    expect(await api.db`select from metrics_days where resource_id = ${application}`).toHaveLength(0);
    expect(
      await api.db`select from metrics_minutes where resource_id = ${application} and at = ${new Date(minuteMs(0))}`,
    ).toHaveLength(0);
  });

  test.each([
    ["period=1h", "period"],
    ["step=7m", "step"],
    ["period=30d&step=1m", "step"],
    ["period=24h&step=1d", "step"],
  ])("refuse %s as a fault of the %s", async (query, field) => {
    for (const address of [`${SERVERS}/${server}/metrics`, `${APPLICATIONS}/${application}/metrics`]) {
      const { status, body } = await metrics(`${address}?${query}`);
      expect(status).toBe(422);
      expect(Object.keys(body.errors ?? {})).toEqual([field]);
    }
  });

  test("are empty while nothing was measured", async () => {
    const { status, body } = await metrics(`${SERVERS}/${server}/metrics`);
    expect(status).toBe(200);
    expect(body.data.connection_count).toEqual({ labels: ["connections"], average: [], data: [] });
  });
});

describe("Prometheus metrics of WebSocket clusters", () => {
  let timeouts: ReturnType<typeof spyOn>;
  beforeEach(() => {
    // Clusters that a busy machine has not asked in time would be left out.
    timeouts = spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  });
  afterEach(() => timeouts.mockRestore());

  test("have the figures of each application, and each name once", async () => {
    await becomeAvailable();
    let times = 0;
    drive({
      figures: async () => {
        times += 1;
        const figures = { connections: 3, messagesReceived: 7, messagesSent: 21, "webhooks.failed": 2, x: 1 };
        return { whole: { connections: 3 }, parts: [{ id: application, figures }] };
      },
    });
    const { length: running } = await api.db`select from websocket_servers where status = 'available'`;
    const text = await page();
    expect(times).toBe(running);
    const labels = `{server="${server}",application="${application}"}`;
    expect(text).toContain(`\npilvi_websocket_server_connections{server="${server}"} 3\n`);
    expect(text).toContain(`\npilvi_websocket_connections${labels} 3\n`);
    expect(text).toContain(`\npilvi_websocket_messages_received_total${labels} 7\n`);
    expect(text).toContain(`\npilvi_websocket_messages_sent_total${labels} 21\n`);
    expect(text).toContain(`\npilvi_websocket_webhooks_failed_total${labels} 2\n`);
    expect(text).toContain("# TYPE pilvi_websocket_messages_sent_total counter");
    // The figures are of the moment, not the sum of all readings.
    expect(await page()).toContain(`\npilvi_websocket_messages_sent_total${labels} 21\n`);
  });

  test("have all other figures when a cluster or the store does not answer", async () => {
    await becomeAvailable();
    drive({ figures: () => Promise.reject(new PublicError("gone")) });
    const text = await page();
    expect(text).not.toContain(`server="${server}"`);
    expect(text).toContain("pilvi_held_requests 0");
    const { db } = api.context;
    api.context.db = (() => Promise.reject(new Error("store gone"))) as never;
    expect(await page()).toContain("pilvi_held_requests 0");
    api.context.db = db;
  });

  test("without a token have sums and no id; with a token, the figures of its organization alone", async () => {
    const token = await api.newToken(["*"], "elsewhere");
    const response = await api.request(SERVERS, { token, json: validServer });
    const { id } = ((await response.json()) as { data: { id: string } }).data;
    await api.db`update websocket_servers set status = 'available' where id in (${server}, ${id})`;
    await api.db`update websocket_servers set status = 'creating' where id not in (${server}, ${id})`;
    const cache = await ask<{ data: { id: string } }>("/api/caches", { json: validCache });
    api.host.observedStates.note(observed(cache.body.data.id, "asleep", { state: "asleep", wakes: 4 }));
    drive({
      figures: async (of) => ({
        whole: { connections: 3 },
        parts: [{ id: `wsa-of-${of}`, figures: { messagesSent: 5 } }],
      }),
    });
    const open = await page(null);
    expect(open).not.toMatch(/\b(ws|wsa|cache|db)-/);
    expect(open).toContain("\npilvi_websocket_server_connections 6\n");
    expect(open).toContain("\npilvi_websocket_messages_sent_total 10\n");
    expect(open).toContain('\npilvi_wakes_total{kind="caches"} 4\n');
    const reader = await api.newToken(["metrics:read"], "elsewhere");
    const own = await page(reader);
    expect(own).toContain(`\npilvi_websocket_server_connections{server="${id}"} 3\n`);
    expect(own).not.toContain(server);
    expect(own).not.toContain(cache.body.data.id);
    expect(own).toContain('pilvi_sleeping{kind="caches"} 0');
    expect(own).not.toContain("pilvi_http_requests_total");
    const all = await page(await api.newToken(["metrics:read"]));
    for (const each of [id, server, cache.body.data.id]) expect(all).toContain(`"${each}"`);
  });

  test("are refused to a token that is unknown or lacks the ability", async () => {
    expect((await api.request("/metrics", { token: "unknown" })).status).toBe(401);
    const token = await api.newToken(["caches:read"]);
    expect((await api.request("/metrics", { token })).status).toBe(403);
  });
});

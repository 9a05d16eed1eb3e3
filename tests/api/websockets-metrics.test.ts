// Metrics of WebSocket clusters and applications, for their customers and for Prometheus.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Driver, MetricsQuery } from "../../src/drivers/driver.ts";
import { PublicError } from "../../src/lib/errors.ts";
import { sleepGauges } from "../../src/resources/shared/sleep-gauges.ts";
import { clusterGauges } from "../../src/resources/websockets/gauges.ts";
import type { WebsocketMetrics } from "../../src/resources/websockets/schema.ts";
import { writeWebSocketClusterStatus } from "../../src/resources/websockets/store.ts";
import { startApi, validCache, validServer, type TestApi } from "../support/api/api.ts";
import { observed } from "../support/api/resources-api.ts";
import { APPLICATIONS, asker, newWebSocketCluster, SERVERS } from "../support/api/websockets-api.ts";

const SEEN = { engine: null, limits: null } as never;
const AT = ["2026-03-15T08:00:00.000Z", "2026-03-15T08:01:00.000Z"] as const;

let api: TestApi;
let server: string;
let application: string;
let asked: [string, MetricsQuery][];

beforeAll(async () => {
  api = await startApi();
  api.app.metrics.addFigures(clusterGauges, api.context);
  api.app.metrics.addFigures(sleepGauges, api.context);
});
afterAll(() => api.stop());
beforeEach(async () => {
  asked = [];
  ({
    id: server,
    application: { id: application },
  } = await newWebSocketCluster(api));
});

const ask = asker(() => api);
const metrics = (address: string) => ask<WebsocketMetrics & { errors?: object }>(address);
const becomeAvailable = () =>
  api.db.begin((tx) => writeWebSocketClusterStatus(tx, server, "available", SEEN));
const page = async (token: string | null = api.token) =>
  await (await api.request("/metrics", { token })).text();
const drive = (parts: Partial<Driver>) => Object.assign(api.host.driver, parts);

const driverMetrics: Driver["metrics"] = async (id, query) => {
  asked.push([id, query]);
  return {
    connectionCount: AT.map((at, index) => ({ at, value: index + 1 })),
    messageRate: AT.map((at) => ({ at, value: 0.5 })),
  };
};

describe("metrics of a WebSocket cluster", () => {
  test("have the shape that clients know", async () => {
    drive({ metrics: driverMetrics });
    await becomeAvailable();
    const { status, headers, body } = await metrics(`${SERVERS}/${server}/metrics?period=24h`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(body).toEqual({
      data: {
        connection_count: {
          labels: ["connections"],
          average: [1.5],
          data: [
            { x: AT[0], y: [1] },
            { x: AT[1], y: [2] },
          ],
        },
        message_rate: {
          labels: ["messages_per_second"],
          average: [0.5],
          data: [
            { x: AT[0], y: [0.5] },
            { x: AT[1], y: [0.5] },
          ],
        },
      },
      meta: { period: "24h", available_periods: ["6h", "24h", "3d", "7d", "30d"] },
    });
    expect(asked).toEqual([[server, { periodSeconds: 86_400 }]]);
  });

  test("of an application are a part of the cluster's, over six hours by default", async () => {
    drive({ metrics: driverMetrics });
    await becomeAvailable();
    const { body } = await metrics(`${APPLICATIONS}/${application}/metrics`);
    expect(body.meta.period).toBe("6h");
    expect(asked).toEqual([[server, { periodSeconds: 21_600, part: application }]]);
  });

  test("refuse an unknown period", async () => {
    for (const address of [`${SERVERS}/${server}/metrics`, `${APPLICATIONS}/${application}/metrics`]) {
      const { status, body } = await metrics(`${address}?period=1h`);
      expect(status).toBe(422);
      expect(Object.keys(body.errors ?? {})).toEqual(["period"]);
    }
  });

  test("are empty while the cluster is being created, and a 503 while its server does not run", async () => {
    drive({ metrics: () => Promise.reject(new PublicError("private detail")) });
    const { body } = await metrics(`${SERVERS}/${server}/metrics`);
    expect(body.data.connection_count).toEqual({ labels: ["connections"], average: [], data: [] });
    await becomeAvailable();
    const response = await api.request(`${SERVERS}/${server}/metrics`);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(await response.text()).not.toContain("private");
  });
});

describe("Prometheus metrics of WebSocket clusters", () => {
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

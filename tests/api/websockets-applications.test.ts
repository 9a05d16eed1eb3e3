// Applications of a WebSocket cluster: creating, reading, changing and deleting them, and their connections.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { specOf } from "../../src/resources/websockets/spec.ts";
import { eraseWebSocketCluster, loadWebSocketCluster } from "../../src/resources/websockets/store.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { becomes } from "../support/api/resources-api.ts";
import {
  APPLICATIONS,
  asker,
  newWebSocketCluster,
  SERVERS,
  type ApplicationAnswer,
  type ServerAnswer,
} from "../support/api/websockets-api.ts";

let api: TestApi;
let server: string;
let main: string;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  const made = await newWebSocketCluster(api);
  server = made.id;
  main = made.application.id;
});

type Init = Parameters<TestApi["request"]>[1];
const send = asker(() => api);
const ask = (address: string, init: Init = {}) => send<ApplicationAnswer>(address, init);
const add = (json: object, init: Init = {}) => ask(`${SERVERS}/${server}/applications`, { json, ...init });
const change = (id: string, json: object) => ask(`${APPLICATIONS}/${id}`, { method: "PATCH", json });
const remove = async (id: string) => (await ask(`${APPLICATIONS}/${id}`, { method: "DELETE" })).status;

const settle = () => becomes(api, "websockets", server, "available");
const status = async () => {
  const { body } = await send<ServerAnswer>(`${SERVERS}/${server}`);
  return body.data.attributes.status;
};
/** The connections of all applications, the oldest first. */
const connections = async () => {
  const { body } = await send<ServerAnswer>(`${SERVERS}/${server}?include=applications`);
  const { connection_distribution_strategy: strategy } = body.data.attributes;
  return [strategy, ...(body.included ?? []).map(({ attributes }) => attributes.max_connections)];
};
const spec = async () => {
  const row = await loadWebSocketCluster(api.db, server);
  if (row === null) throw new Error("the cluster is there");
  return specOf(row, api.context);
};

describe("WebSocket applications", () => {
  test("are created with the requested settings", async () => {
    await settle();
    const attributes = { name: "website", allowed_origins: ["example.com"], ping_interval: 20 };
    const { status: code, headers, body } = await add(attributes);
    expect(code).toBe(201);
    expect(headers.get("content-type")).toBe("application/vnd.api+json");
    expect(headers.get("location")).toBe(`${api.origin}${APPLICATIONS}/${body.data.id}`);
    expect(body).not.toHaveProperty("included");
    expect(body.data.attributes).toMatchObject({ ...attributes, activity_timeout: 30, max_connections: 50 });
    expect(body.data.relationships.server.data).toEqual({ id: server, type: "websocketServers" });
    expect(await status()).toBe("updating");
    const [work] = await api.db`select run_at <= now() as due from work where id = ${server}`;
    expect(work.due).toBe(true);
    const read = await ask(`${APPLICATIONS}/${body.data.id}?include=server`);
    expect(read.body.data).toEqual(body.data);
    expect(read.body.included?.map(({ id }) => id)).toEqual([server]);
    expect((await ask(`${APPLICATIONS}/${body.data.id}?include=applications`)).status).toBe(400);
    expect((await ask(`${APPLICATIONS}/${server}`)).status).toBe(404);
  });

  test("show the environments that use them", async () => {
    await settle();
    await send("/api/applications", { json: { name: server, region: "eu-central-1" } });
    const [environment] = await api.db<{ id: string }[]>`
      select e.id from environments e join applications a on a.id = e.application_id where a.name = ${server}`;
    const id = environment?.id ?? "";
    const json = { websocket_application_id: main };
    expect((await send(`/api/environments/${id}`, { method: "PATCH", json })).status).toBe(200);
    const { body } = await ask(`${APPLICATIONS}/${main}?include=environments`);
    expect(body.data.relationships.environments.data).toEqual([{ id, type: "environments" }]);
    expect(body.included).toMatchObject([{ id, type: "environments" }]);
    const reader = await api.newToken(["websockets:read"]);
    expect(
      (await ask(`${APPLICATIONS}/${main}?include=environments`, { token: reader })).body.included,
    ).toEqual([]);
  });

  test("are created once for an Idempotency-Key", async () => {
    const init = { headers: { "Idempotency-Key": server } };
    const first = await add({ name: "website" }, init);
    const second = await add({ name: "website" }, init);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await connections()).toEqual(["evenly", 50, 50]);
    expect(await remove(first.body.data.id)).toBe(204);
    expect((await add({ name: "website" }, init)).status).toBe(409);
  });

  test("are listed in pages, and included in the list of clusters", async () => {
    const { body } = await add({ name: "website" });
    const path = `${SERVERS}/${server}/applications`;
    const list = await send<{ data: { id: string }[]; included?: { id: string }[]; meta: { total: number } }>(
      `${path}?per_page=1&page=2&include=server`,
    );
    expect(list.body.data.map(({ id }) => id)).toEqual([body.data.id]);
    expect(list.body.meta.total).toBe(2);
    expect(list.body.included?.map(({ id }) => id)).toEqual([server]);
    expect((await send<{ included?: unknown }>(path)).body).not.toHaveProperty("included");
  });

  test("keep settings that a change does not name, and make the cluster `updating`", async () => {
    await settle();
    expect((await change(main, { name: "renamed" })).body.data.attributes.name).toBe("renamed");
    expect(await status()).toBe("available");
    const { body } = await change(main, {
      allowed_origins: ["example.com"],
      subscription_count_enabled: true,
    });
    expect(body.data.attributes).toMatchObject({
      name: "renamed",
      allowed_origins: ["example.com"],
      subscription_count_enabled: true,
      ping_interval: 60,
    });
    expect(await status()).toBe("updating");
    const [audit] = await api.db`
      select action, details from audit where resource_id = ${main} order by id desc limit 1`;
    expect(audit).toEqual({
      action: "update",
      details: { allowed_origins: ["example.com"], subscription_count_enabled: true },
    });
  });

  test("are gone right after their deletion, and a cluster may lose its last application", async () => {
    await settle();
    expect(await remove(main)).toBe(204);
    expect(await remove(main)).toBe(404);
    expect(await status()).toBe("updating");
    expect((await spec()).applications).toEqual([]);
    const { body } = await add({ name: "website" });
    expect(body.data.attributes.max_connections).toBe(100);
  });

  test("are a hundred at most, each with a connection", async () => {
    await api.db`
      insert into websocket_applications (id, server_id, name, key, sealed_secret, allowed_origins, ping_interval,
        activity_timeout, max_message_size, max_connections, client_events_enabled, subscription_count_enabled, webhooks)
      select 'wsa-' || n, server_id, name, n || key, sealed_secret, allowed_origins, ping_interval, activity_timeout,
        max_message_size, 1, client_events_enabled, subscription_count_enabled, webhooks
      from websocket_applications, generate_series(1, 98) n where id = ${main}`;
    expect((await add({ name: "last" })).body.data.attributes.max_connections).toBe(1);
    const refused = await add({ name: "more" });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain("100");
    await api.db.begin((tx) => eraseWebSocketCluster(tx, server));
  });
});

describe("the connections of a WebSocket cluster", () => {
  test("are split evenly over its applications, rounded down", async () => {
    expect(await connections()).toEqual(["evenly", 100]);
    await add({ name: "one" });
    const { body } = await add({ name: "two" });
    expect(await connections()).toEqual(["evenly", 33, 33, 33]);
    await remove(body.data.id);
    expect(await connections()).toEqual(["evenly", 50, 50]);
  });

  test("are split by explicit numbers once a request names a number", async () => {
    const second = (await add({ name: "one" })).body.data.id;
    expect((await change(main, { max_connections: 20 })).body.data.attributes.max_connections).toBe(20);
    expect(await connections()).toEqual(["custom", 20, 50]);
    const refused = await change(second, { max_connections: 81 });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual({
      max_connections: [
        "The cluster has 100 connections, of which its other applications leave 80. Lower one of theirs first.",
      ],
    });
    expect((await change(second, { max_connections: 70 })).status).toBe(200);
    expect((await add({ name: "rest" })).body.data.attributes.max_connections).toBe(10);
    expect(await connections()).toEqual(["custom", 20, 70, 10]);
    expect((await add({ name: "none" })).body.errors).toHaveProperty("max_connections");
    await remove(second);
    expect((await add({ name: "own", max_connections: 60 })).status).toBe(201);
    expect(await connections()).toEqual(["custom", 20, 10, 60]);
  });

  test("are split evenly again when the cluster gets another number", async () => {
    await change(main, { max_connections: 20 });
    await add({ name: "one", max_connections: 5 });
    await ask(`${SERVERS}/${server}`, { method: "PATCH", json: { max_connections: 500 } });
    expect(await connections()).toEqual(["evenly", 250, 250]);
  });

  test("are never exceeded by concurrent requests", async () => {
    await change(main, { max_connections: 10 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => add({ name: `app${index}`, max_connections: 30 })),
    );
    expect(answers.filter(({ status: code }) => code === 201)).toHaveLength(3);
    expect(await connections()).toEqual(["custom", 10, 30, 30, 30]);
  });
});

test("the spec of a WebSocket cluster has every setting that the server needs", async () => {
  await change(main, {
    allowed_origins: ["example.com"],
    max_message_size: 20_000,
    webhooks: [
      {
        url: "https://example.com/hooks",
        event_types: ["member_added"],
        filter: { channel_name_ends_with: "-room" },
      },
    ],
  });
  const { data } = (await ask(`${APPLICATIONS}/${main}`)).body;
  const { data: cluster } = (await send<ServerAnswer>(`${SERVERS}/${server}`)).body;
  expect(await spec()).toEqual({
    kind: "realtime",
    id: server,
    engines: ["realtime"],
    users: [],
    exposure: { port: cluster.meta.port, scope: "public", through: "engine" },
    maxConnections: 100,
    applications: [
      {
        id: main,
        appId: data.attributes.app_id,
        key: data.attributes.key ?? "",
        secrets: [{ secret: data.attributes.secret ?? "", expiresAt: null }],
        allowedOrigins: ["example.com"],
        pingIntervalSeconds: 60,
        activityTimeoutSeconds: 30,
        maxMessageBytes: 20_000,
        maxConnections: 100,
        clientEventsEnabled: true,
        subscriptionCountEnabled: false,
        webhooks: [
          {
            url: "https://example.com/hooks",
            eventTypes: ["member_added"],
            isBatched: false,
            filter: { channelNameEndsWith: "-room" },
          },
        ],
      },
    ],
  });
});

test("a request of a webhook has one event unless batch_enabled is true", async () => {
  const webhook = { url: "https://example.com/hooks", event_types: ["member_added"] };
  const webhooks = [webhook, { ...webhook, batch_enabled: true }, { ...webhook, batch_enabled: false }];
  expect((await change(main, { webhooks })).status).toBe(200);
  const [application] = (await spec()).applications;
  expect(application?.webhooks.map(({ isBatched }) => isBatched)).toEqual([false, true, false]);
});

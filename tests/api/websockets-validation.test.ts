// Requests for WebSocket clusters and applications that are refused, with every failing field named at once.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startApi, validServer, type TestApi } from "../support/api/api.ts";
import {
  APPLICATIONS,
  asker,
  newWebSocketCluster,
  SERVERS,
  type ApplicationAnswer,
  type ServerAnswer,
} from "../support/api/websockets-api.ts";

let api: TestApi;
let server: Awaited<ReturnType<typeof newWebSocketCluster>>;
beforeAll(async () => {
  api = await startApi();
  server = await newWebSocketCluster(api);
});
afterAll(() => api.stop());

const ask = asker(() => api);
const create = (json: object) => ask<ServerAnswer>(SERVERS, { json });
const application = { name: "website" };
const add = (json: object) => ask<ApplicationAnswer>(`${SERVERS}/${server.id}/applications`, { json });
const change = (json: object) =>
  ask<ApplicationAnswer>(`${APPLICATIONS}/${server.application.id}`, { method: "PATCH", json });
const rotate = (json: object) =>
  ask<ApplicationAnswer>(`${APPLICATIONS}/${server.application.id}/rotate-secret`, { json });

describe("a WebSocket cluster", () => {
  const required = ["name", "type", "region", "max_connections"];

  test.each([
    ["nothing", {}, required],
    ["all null", Object.fromEntries(required.map((name) => [name, null])), required],
    ["a short name", { ...validServer, name: "a" }, ["name"]],
    ["a long name", { ...validServer, name: "a".repeat(41) }, ["name"]],
    ["capitals in the name", { ...validServer, name: "Chat" }, ["name"]],
    ["the vendor's type", { ...validServer, type: "reverb" }, ["type"]],
    ["an unknown region", { ...validServer, region: "eu-north-1" }, ["region"]],
    ["a number between", { ...validServer, max_connections: 101 }, ["max_connections"]],
    ["a number as text", { ...validServer, max_connections: "100" }, ["max_connections"]],
    ["a fraction", { ...validServer, max_connections: 100.5 }, ["max_connections"]],
    ["all faults at once", { name: "", type: 1, region: "x", max_connections: 0 }, required],
  ])("refuses %s", async (_what, body, fields) => {
    const answer = await create(body);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {})).toEqual(fields);
    for (const sentence of Object.values(answer.body.errors ?? {}).flat())
      expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test.each([100, 200, 500, 2000, 5000, 10_000])("accepts %i connections", async (connections) => {
    const { status, body } = await create({ ...validServer, name: "ab", max_connections: connections });
    expect(status).toBe(201);
    expect(body.included?.[0]?.attributes.max_connections).toBe(connections);
  });
});

const hook = { url: "https://example.com/hooks", event_types: ["channel_occupied"] };

/** Refused members of an application, with the fields that the answer names. */
const refused: [change: Record<string, unknown>, fields: string[]][] = [
  [{ name: "ab" }, ["name"]],
  [{ name: "a".repeat(41) }, ["name"]],
  [{ name: "Web site" }, ["name"]],
  [{ name: 1 }, ["name"]],
  [{ webhooks: [{ ...hook, url: `${hook.url}/\0` }] }, ["webhooks.0.url"]],
  [{ webhooks: [hook, { ...hook, url: `${hook.url}/\ud83d` }] }, ["webhooks.1.url"]],
  [
    { webhooks: [{ ...hook, filter: { channel_name_starts_with: "a\0" } }] },
    ["webhooks.0.filter.channel_name_starts_with"],
  ],
  [{ ping_interval: 0 }, ["ping_interval"]],
  [{ ping_interval: 61 }, ["ping_interval"]],
  [{ ping_interval: "30" }, ["ping_interval"]],
  [{ ping_interval: 1.5 }, ["ping_interval"]],
  [{ activity_timeout: 0 }, ["activity_timeout"]],
  [{ activity_timeout: 61 }, ["activity_timeout"]],
  [{ max_message_size: 999 }, ["max_message_size"]],
  [{ max_message_size: 100_001 }, ["max_message_size"]],
  [{ max_connections: 0 }, ["max_connections"]],
  [{ max_connections: 10_001 }, ["max_connections"]],
  [{ client_events_enabled: "yes" }, ["client_events_enabled"]],
  [{ subscription_count_enabled: 1 }, ["subscription_count_enabled"]],
  [{ allowed_origins: "example.com" }, ["allowed_origins"]],
  [{ allowed_origins: Array(101).fill("example.com") }, ["allowed_origins"]],
  [{ allowed_origins: ["example.com", 7] }, ["allowed_origins.1"]],
  [{ allowed_origins: ["a".repeat(256)] }, ["allowed_origins.0"]],
  [{ allowed_origins: [""] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["https://"] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["https://example.com/path"] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["*.*.example.com"] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["*example.com"] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["example.com:port"] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["exam ple.com"] }, ["allowed_origins.0"]],
  [{ allowed_origins: ["example.com\n"] }, ["allowed_origins.0"]],
  [{ webhooks: {} }, ["webhooks"]],
  [{ webhooks: Array.from({ length: 11 }, () => hook) }, ["webhooks"]],
  [{ webhooks: ["https://example.com"] }, ["webhooks.0"]],
  [{ webhooks: [{}] }, ["webhooks.0.url", "webhooks.0.event_types"]],
  [{ webhooks: [hook, { ...hook, url: "example.com" }] }, ["webhooks.1.url"]],
  [{ webhooks: [{ ...hook, url: "ftp://example.com" }] }, ["webhooks.0.url"]],
  [{ webhooks: [{ ...hook, url: "https://me:pw@example.com" }] }, ["webhooks.0.url"]],
  [{ webhooks: [{ ...hook, url: `https://example.com/${"a".repeat(2048)}` }] }, ["webhooks.0.url"]],
  [{ webhooks: [{ ...hook, event_types: [] }] }, ["webhooks.0.event_types"]],
  [{ webhooks: [{ ...hook, event_types: ["connected"] }] }, ["webhooks.0.event_types.0"]],
  [
    { webhooks: [{ ...hook, filter: { channel_name_starts_with: "" } }] },
    ["webhooks.0.filter.channel_name_starts_with"],
  ],
  [
    { webhooks: [{ ...hook, filter: { channel_name_ends_with: 7 } }] },
    ["webhooks.0.filter.channel_name_ends_with"],
  ],
  [
    { name: "", ping_interval: 99, webhooks: [{ ...hook, url: 1 }] },
    ["name", "ping_interval", "webhooks.0.url"],
  ],
];

describe("a WebSocket application", () => {
  test.each(refused)("is refused with %j", async (members, fields) => {
    for (const answer of [await add({ ...application, ...members }), await change(members)]) {
      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.errors ?? {})).toEqual(fields);
      for (const sentence of Object.values(answer.body.errors ?? {}).flat())
        expect(sentence).toMatch(/^[A-Z].*\.$/);
    }
  });

  test("is refused with a sentence in the singular for a bound of 1", async () => {
    const { body } = await add({ ...application, webhooks: [{ ...hook, event_types: [] }] });
    expect(body.errors).toEqual({
      "webhooks.0.event_types": ["The field webhooks.0.event_types must have at least 1 member."],
    });
  });

  test("needs a name and no other member", async () => {
    expect(Object.keys((await add({})).body.errors ?? {})).toEqual(["name"]);
    expect((await add(application)).status).toBe(201);
  });

  test.each([
    [{ allowed_origins: ["*"] }],
    [
      {
        allowed_origins: [
          "example.com",
          "*.example.com",
          "https://example.com",
          "https://*.example.com:8443",
        ],
      },
    ],
    [
      {
        allowed_origins: [
          "http://localhost:3000",
          "http://127.0.0.1:*",
          "https://[::1]:8443",
          "capacitor://localhost",
        ],
      },
    ],
    [{ allowed_origins: [] }],
    [
      {
        webhooks: [
          { ...hook, filter: { channel_name_starts_with: "presence-", channel_name_ends_with: "-x" } },
        ],
      },
    ],
    [{ webhooks: [{ url: "http://10.0.0.1:8080/?a=b", event_types: ["cache_miss", "subscription_count"] }] }],
    [{ name: "abc", ping_interval: 1, activity_timeout: 60, max_message_size: 1000 }],
    [{ client_events_enabled: false, subscription_count_enabled: true }],
  ])("is changed with %j, and shown as it was sent", async (members) => {
    const { status, body } = await change(members);
    expect(status).toBe(200);
    expect(body.data.attributes).toMatchObject(members);
  });

  test("accepts null for an absent member, at every depth", async () => {
    const { body } = await add({
      name: "nulls",
      allowed_origins: null,
      ping_interval: null,
      max_connections: null,
      webhooks: [
        { ...hook, filter: null },
        { ...hook, filter: { channel_name_starts_with: null } },
      ],
    });
    expect(body.data.attributes).toMatchObject({ allowed_origins: [], ping_interval: 60 });
    expect(body.data.attributes.webhooks).toEqual([hook, { ...hook, filter: {} }] as never);
  });
});

test.each([
  [{ grace_seconds: -1 }],
  [{ grace_seconds: 604_801 }],
  [{ grace_seconds: "60" }],
  [{ grace_seconds: 1.5 }],
])("a rotation is refused with %j", async (body) => {
  const answer = await rotate(body);
  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.errors ?? {})).toEqual(["grace_seconds"]);
});

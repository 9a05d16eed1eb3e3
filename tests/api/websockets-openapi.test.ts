// The OpenAPI document matches the API's answers about WebSocket clusters and applications.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startApi, validServer, type TestApi } from "../support/api/api.ts";
import {
  bodyValidatorOf,
  documentOf,
  expectDocumented,
  type Document,
  type Json,
} from "../support/api/openapi.ts";
import { APPLICATIONS, newWebSocketCluster, SERVERS } from "../support/api/websockets-api.ts";

let api: TestApi;
let document: Document;
beforeAll(async () => {
  api = await startApi();
  document = await documentOf(api);
});
afterAll(() => api.stop());

const servers = "/websocket-servers";
const applications = "/websocket-applications";

describe("the OpenAPI document of WebSocket clusters", () => {
  test("has every operation", () => {
    const operations = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/websocket-"))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
      );
    expect(operations.sort()).toEqual([
      "delete /websocket-applications/{id} deleteWebsocketApplication",
      "delete /websocket-servers/{id} deleteWebsocketServer",
      "get /websocket-applications/{id} getWebsocketApplication",
      "get /websocket-applications/{id}/debug debugWebsocketApplication",
      "get /websocket-applications/{id}/metrics getWebsocketApplicationMetrics",
      "get /websocket-servers listWebsocketServers",
      "get /websocket-servers/{id} getWebsocketServer",
      "get /websocket-servers/{id}/applications listWebsocketApplications",
      "get /websocket-servers/{id}/logs readWebsocketServerLogs",
      "get /websocket-servers/{id}/metrics getWebsocketServerMetrics",
      "patch /websocket-applications/{id} updateWebsocketApplication",
      "patch /websocket-servers/{id} updateWebsocketServer",
      "post /websocket-applications/{id}/debug/events publishWebsocketTestEvent",
      "post /websocket-applications/{id}/rotate-secret rotateWebsocketApplicationSecret",
      "post /websocket-servers createWebsocketServer",
      "post /websocket-servers/{id}/applications createWebsocketApplication",
    ]);
  });

  test("has the contract's enumerations and the member with the empty name", () => {
    const { schemas } = document.components;
    expect(schemas.WebsocketServerType?.enum).toEqual(["builtin"]);
    expect(schemas.WebsocketServerMaxConnections).toMatchObject({
      type: "integer",
      enum: [100, 200, 500, 2000, 5000, 10_000],
    });
    expect(schemas.WebsocketConnectionDistributionStrategy?.enum).toEqual(["evenly", "custom"]);
    expect(schemas.NewWebSocketCluster?.required).toEqual(["name", "type", "region", "max_connections"]);
    expect(schemas.WebsocketApplicationAttributes?.properties).toHaveProperty([""]);
    expect(schemas.WebsocketApplicationAttributes?.required).toContain("");
  });

  test("has the same bounds for members of the same meaning", () => {
    const part = { type: ["string", "null"], minLength: 1, maxLength: 200 };
    expect(document.components.schemas.WebsocketWebhook).toMatchObject({
      properties: {
        filter: { properties: { channel_name_starts_with: part, channel_name_ends_with: part } },
      },
    });
  });
});

/** A request, and the place of its answer in the document. */
type Probe = [method: string, path: string, documented: string, status: number, body?: Json];

async function probe([method, path, documented, status, body]: Probe, token = api.token): Promise<void> {
  const init = body === undefined ? { method, token } : { method, token, json: body };
  const response = await api.request(path, init);
  expect({ method, path, status: response.status }).toEqual({ method, path, status });
  await expectDocumented(document, documented, method.toLowerCase(), response);
}

const hook = { url: "https://example.com", event_types: ["cache_miss"], filter: {} };

describe("the documented shapes of WebSocket clusters", () => {
  test("match the answers about clusters", async () => {
    const { id } = await newWebSocketCluster(api);
    const one = `${SERVERS}/${id}`;
    const oneDocumented = `${servers}/{id}`;
    const engine = { name: "realtime", version: "0.1.0" };
    await api.db`update websocket_servers set engine = ${engine}, limits = ${{ maxConnections: 100 }} where id = ${id}`;
    const probes: Probe[] = [
      ["POST", SERVERS, servers, 201, validServer],
      ["POST", SERVERS, servers, 422, {}],
      ["GET", `${SERVERS}?include=applications&filter[name]=chat`, servers, 200],
      ["GET", `${SERVERS}?filter[x]=1`, servers, 400],
      ["GET", `${SERVERS}?filter[status]=x`, servers, 422],
      ["GET", `${one}?include=applications&wait=creating`, oneDocumented, 200],
      ["GET", `${one}?include=x`, oneDocumented, 400],
      ["GET", `${one}/metrics?period=7d`, `${oneDocumented}/metrics`, 200],
      ["GET", `${one}/metrics?period=x`, `${oneDocumented}/metrics`, 422],
      ["PATCH", one, oneDocumented, 200, { name: "other", max_connections: 200 }],
      ["PATCH", one, oneDocumented, 422, { name: "" }],
      ["DELETE", one, oneDocumented, 204],
      ["PATCH", one, oneDocumented, 409, { name: "other" }],
      ["POST", `${one}/applications`, `${oneDocumented}/applications`, 409, { name: "website" }],
      ["GET", `${SERVERS}/x`, oneDocumented, 404],
    ];
    for (const each of probes) await probe(each);
  });

  test("match the answers about applications", async () => {
    const { id, application } = await newWebSocketCluster(api);
    const inServer = `${SERVERS}/${id}/applications`;
    const inServerDocumented = `${servers}/{id}/applications`;
    const one = `${APPLICATIONS}/${application.id}`;
    const oneDocumented = `${applications}/{id}`;
    const probes: Probe[] = [
      ["POST", inServer, inServerDocumented, 201, { name: "website", webhooks: [hook] }],
      ["POST", inServer, inServerDocumented, 422, { name: "website", max_connections: 100 }],
      ["GET", `${inServer}?include=server`, inServerDocumented, 200],
      ["GET", `${inServer}?include=x`, inServerDocumented, 400],
      ["GET", `${one}?include=server`, oneDocumented, 200],
      ["PATCH", one, oneDocumented, 200, { webhooks: [hook], allowed_origins: ["*"] }],
      ["PATCH", one, oneDocumented, 422, { webhooks: [{}] }],
      ["POST", `${one}/rotate-secret`, `${oneDocumented}/rotate-secret`, 200, {}],
      ["POST", `${one}/rotate-secret`, `${oneDocumented}/rotate-secret`, 422, { grace_seconds: -1 }],
      ["GET", `${one}/metrics`, `${oneDocumented}/metrics`, 200],
    ];
    for (const each of probes) await probe(each);
    const reader = await api.newToken(["websockets:read"]);
    await probe(["GET", one, oneDocumented, 200], reader);
    await probe(["DELETE", one, oneDocumented, 403], reader);
    await probe(["DELETE", one, oneDocumented, 204]);
    await probe(["DELETE", one, oneDocumented, 404]);
  });

  test("accept or refuse the same requests as the API", async () => {
    const { id, application } = await newWebSocketCluster(api);
    const one = `${APPLICATIONS}/${application.id}`;
    const bodies: [path: string, documented: string, method: string, valid: Json, members: string[]][] = [
      [SERVERS, servers, "POST", validServer, Object.keys(validServer)],
      [`${SERVERS}/${id}`, `${servers}/{id}`, "PATCH", {}, ["name", "max_connections"]],
      [one, `${applications}/{id}`, "PATCH", {}, ["name", "ping_interval", "allowed_origins", "webhooks"]],
      [
        `${one}/rotate-secret`,
        `${applications}/{id}/rotate-secret`,
        "POST",
        { grace_seconds: 0 },
        ["grace_seconds"],
      ],
    ];
    const values = [
      null,
      "",
      "ab",
      "abc",
      "builtin",
      0,
      1,
      60,
      100,
      604_800,
      1.5,
      true,
      [],
      ["*"],
      ["a b"],
      {},
    ];
    const hooks = [
      [hook],
      [{ ...hook, filter: null }],
      [{ ...hook, url: 7 }],
      [{ ...hook, event_types: [] }],
    ];
    for (const [path, documented, method, valid, members] of bodies) {
      const validator = bodyValidatorOf(document, documented, method.toLowerCase());
      for (const member of [...members, "other"]) {
        for (const value of member === "webhooks" ? [...values, ...hooks] : values) {
          const json = { ...valid, [member]: value };
          const { status } = await api.request(path, { method, json });
          const isTaken = validator.safeParse(json).success;
          expect({ path, json, isTaken: status < 400 }).toEqual({ path, json, isTaken });
        }
      }
    }
  });
});

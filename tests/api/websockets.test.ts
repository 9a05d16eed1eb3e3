// WebSocket clusters as the contract defines them: creating, reading and listing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { WebSocketClusterResource } from "../../src/resources/websockets/schema.ts";
import { eraseWebSocketCluster } from "../../src/resources/websockets/store.ts";
import { startApi, validServer, type TestApi } from "../support/api/api.ts";
import { asker, SERVERS as path, type ServerAnswer } from "../support/api/websockets-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const send = asker(() => api);
type Init = Parameters<TestApi["request"]>[1];
const ask = (address: string, init: Init = {}) => send<ServerAnswer>(address, init);
const create = (json: object = validServer, init: Init = {}) => ask(path, { json, ...init });
const patch = (id: string, json: object, token: string) =>
  ask(`${path}/${id}`, { method: "PATCH", json, token });

describe("POST /websocket-servers", () => {
  test("answers exactly as the contract says", async () => {
    const { status, headers, body } = await create();
    expect(status).toBe(201);
    expect(headers.get("content-type")).toBe("application/vnd.api+json");
    expect(headers.get("location")).toBe(`${api.origin}${path}/${body.data.id}`);
    const [application] = body.included ?? [];
    const { key = "", secret = "" } = application?.attributes ?? {};
    expect(key).toMatch(/^[a-z0-9]{20}$/);
    expect(secret).toMatch(/^[A-Za-z0-9]{32}$/);
    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const { port } = body.data.meta;
    expect(body as unknown).toEqual({
      data: {
        id: expect.stringMatching(/^ws-[0-9a-f-]{36}$/),
        type: "websocketServers",
        attributes: {
          name: "chat",
          type: "builtin",
          region: "eu-central-1",
          status: "creating",
          max_connections: 100,
          connection_distribution_strategy: "evenly",
          hostname: "cloud.example",
          created_at: createdAt,
        },
        relationships: { applications: { data: [{ id: application?.id, type: "websocketApplications" }] } },
        meta: {
          port: expect.any(Number),
          url: `ws://cloud.example:${port}`,
          http_url: `http://cloud.example:${port}`,
          engine: null,
          sleep: { state: "awake" },
          last_error: null,
          overdue: false,
          storage_bytes: null,
          limits: null,
        },
      },
      included: [
        {
          id: expect.stringMatching(/^wsa-[0-9a-f-]{36}$/),
          type: "websocketApplications",
          attributes: {
            name: "main",
            app_id: expect.stringMatching(/^1\d{4}$/),
            allowed_origins: [],
            ping_interval: 60,
            activity_timeout: 30,
            max_message_size: 10_000,
            max_connections: 100,
            client_events_enabled: true,
            subscription_count_enabled: false,
            webhooks: [],
            created_at: createdAt,
            "": { key, secret },
            key,
            secret,
          },
          relationships: {
            server: { data: { id: body.data.id, type: "websocketServers" } },
            environments: { data: [] },
          },
          meta: { former_secrets: [] },
        },
      ],
    });
  });

  test("stores no secret in plaintext, and enqueues the cluster", async () => {
    const { body } = await create();
    const secret = body.included?.[0]?.attributes.secret ?? "";
    const rows = await api.db`
      select to_jsonb(a)::text as text from websocket_applications a
      union all select to_jsonb(a)::text from audit a`;
    for (const { text } of rows as { text: string }[]) expect(text).not.toContain(secret);
    const [work] = await api.db`select kind, run_at <= now() as due from work where id = ${body.data.id}`;
    expect(work).toEqual({ kind: "websockets", due: true });
  });

  test("creates one cluster for an Idempotency-Key, with the same application", async () => {
    const headers = { "Idempotency-Key": "cluster" };
    const first = await create(validServer, { headers });
    const second = await create(validServer, { headers });
    expect(second.status).toBe(201);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
    const other = await create({ ...validServer, max_connections: 200 }, { headers });
    expect(other.status).toBe(422);
    await api.db.begin((tx) => eraseWebSocketCluster(tx, first.body.data.id));
    expect((await create(validServer, { headers })).status).toBe(409);
  });

  test("gives every application an app_id of its own", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
    const ids = answers.map(({ body }) => body.included?.[0]?.attributes.app_id);
    expect(new Set(ids).size).toBe(20);
    expect(new Set(answers.map(({ body }) => body.data.meta.port)).size).toBe(20);
  });

  test("answers with TLS where public instances have TLS", async () => {
    api.host.isTls = true;
    const { body } = await create();
    api.host.isTls = false;
    expect(body.data.meta.url).toBe(`wss://cloud.example:${body.data.meta.port}`);
    expect(body.data.meta.http_url).toBe(`https://cloud.example:${body.data.meta.port}`);
  });
});

describe("abilities of WebSocket clusters", () => {
  test("are three: to write, to read and to see credentials", async () => {
    const writer = await api.newToken(["websockets:write"]);
    const reader = await api.newToken(["websockets:read"]);
    const { body } = await create(validServer, { token: writer });
    const [application] = body.included ?? [];
    expect(application?.attributes[""]).toEqual([]);
    expect(application?.attributes).not.toHaveProperty("key");
    expect(application?.attributes).not.toHaveProperty("secret");
    const { id } = body.data;
    expect((await create(validServer, { token: reader })).status).toBe(403);
    expect((await patch(id, { name: "other" }, reader)).status).toBe(403);
    expect((await ask(`${path}/${id}`, { token: writer })).status).toBe(403);
    expect((await ask(`${path}/${id}`, { token: reader })).status).toBe(200);
    const seeing = await api.newToken(["websockets:read", "websockets:credentials"]);
    const seen = await ask(`${path}/${id}?include=applications`, { token: seeing });
    expect(seen.body.included?.[0]?.attributes.secret).toMatch(/^[A-Za-z0-9]{32}$/);
    expect((await ask(path, { token: null })).status).toBe(401);
    expect((await ask(path, { token: await api.newToken(["caches:read"]) })).status).toBe(403);
  });

  test("of another organization find no cluster", async () => {
    const { data, included } = (await create()).body;
    const token = await api.newToken(["*"], "others");
    const application = `/api/websocket-applications/${included?.[0]?.id}`;
    const attempts: [string, Parameters<TestApi["request"]>[1]][] = [
      [`${path}/${data.id}`, {}],
      [`${path}/${data.id}`, { method: "PATCH", json: { name: "mine" } }],
      [`${path}/${data.id}`, { method: "DELETE" }],
      [`${path}/${data.id}/applications`, {}],
      [`${path}/${data.id}/applications`, { json: { name: "mine" } }],
      [`${path}/${data.id}/metrics`, {}],
      [application, {}],
      [application, { method: "PATCH", json: { name: "mine" } }],
      [application, { method: "DELETE" }],
      [`${application}/rotate-secret`, { json: {} }],
      [`${application}/metrics`, {}],
    ];
    for (const [address, init] of attempts) expect((await ask(address, { ...init, token })).status).toBe(404);
    expect((await ask(path, { token })).body.data as unknown).toEqual([]);
    expect((await ask(`${path}/${data.id}`)).body.data.attributes.name).toBe("chat");
  });
});

describe("reads of WebSocket clusters", () => {
  test("include applications for a client that asks for them", async () => {
    const { data, included } = (await create()).body;
    const plain = await ask(`${path}/${data.id}`);
    expect(plain.body).toEqual({ data });
    expect((await ask(`${path}/${data.id}?include=applications`)).body.included).toEqual(included ?? []);
    const refused = await ask(`${path}/${data.id}?include=environments`);
    expect(refused.status).toBe(400);
  });

  test("of an unknown id are 404", async () => {
    for (const id of ["x", "ws-1", "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f", `ws-${"0".repeat(36)}`]) {
      expect((await ask(`${path}/${id}`)).status).toBe(404);
    }
  });

  test("of lists have pages, filters and includes", async () => {
    const other = await startApi();
    const list = async (query: string) => {
      const response = await other.request(`${path}${query}`);
      expect(response.status).toBe(200);
      return (await response.json()) as {
        data: WebSocketClusterResource[];
        included?: unknown[];
        meta: { total: number };
      };
    };
    const names = ["alpha", "beta", "gamma"];
    for (const name of names) await other.request(path, { json: { ...validServer, name } });
    const all = await list("");
    expect(all.data.map(({ attributes }) => attributes.name)).toEqual(names);
    expect(all).not.toHaveProperty("included");
    expect((await list("?per_page=2&page=2&include=applications")).included).toHaveLength(1);
    const named = await list("?filter[name]=beta,gamma&filter[status]=creating&filter[type]=builtin");
    expect(named.data.map(({ attributes }) => attributes.name)).toEqual(["beta", "gamma"]);
    expect((await list("?filter[region]=us-east-1")).meta.total).toBe(0);
    expect((await other.request(`${path}?filter[status]=asleep`)).status).toBe(422);
    const withNul = await other.request(`${path}?filter[name]=beta,be%00ta`);
    expect([withNul.status, await withNul.json()]).toMatchObject([
      422,
      { errors: { "filter[name]": [expect.any(String)] } },
    ]);
    expect((await other.request(`${path}?filter[size]=1`)).status).toBe(400);
    await other.stop();
  });
});

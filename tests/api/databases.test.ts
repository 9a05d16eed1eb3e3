// Creating and deleting database clusters, under their path and under the former path.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseDatabaseCluster } from "../../src/resources/databases/store.ts";
import { startApi, UNSEEN, validDatabase, type TestApi } from "../support/api/api.ts";

interface Cluster {
  id: string;
  type: string;
  attributes: Record<string, unknown> & { name: string; connection: Record<string, unknown> };
  relationships: { databases: { data: { id: string; type: string }[] } };
  meta: Record<string, unknown>;
}

interface Answer {
  data: Cluster;
  included?: { id: string; attributes: { name: string; status: string } }[];
  errors?: Record<string, string[]>;
  message?: string;
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const paths = ["/api/databases/clusters", "/api/databases"];

async function create(json: unknown = validDatabase, path = paths[0] ?? "", own = api, headers = {}) {
  const response = await own.request(path, { json, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}

const counts = async (id: string) => {
  const [row] = await api.db`
    select (select count(*)::int from databases where id = ${id}) as databases,
           (select count(*)::int from database_schemas where database_id = ${id}) as schemas,
           (select count(*)::int from instances where resource_id = ${id}) as ports,
           (select count(*)::int from work where id = ${id} and kind = 'databases') as work,
           (select count(*)::int from audit where resource_id = ${id}) as audit`;
  return row;
};

describe.each(paths)("POST %s", (path) => {
  test("gives the contract's answer", async () => {
    const { status, headers, body } = await create(validDatabase, path);
    expect(status).toBe(201);
    expect(headers.get("content-type")).toBe("application/vnd.api+json");
    expect(headers.get("location")).toBe(`${api.origin}/api/databases/clusters/${body.data.id}`);
    const [schema] = body.data.relationships.databases.data;
    const credentials = { username: "app", password: expect.stringMatching(/^[A-Za-z0-9]{32}$/) };
    expect(body as unknown).toEqual({
      data: {
        id: expect.stringMatching(/^db-[0-9a-f-]{36}$/),
        type: "databases",
        attributes: {
          name: "orders",
          type: "hosted_serverless_postgres",
          status: "creating",
          region: "eu-central-1",
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
          config: { cu_min: 0.25, cu_max: 0.25, suspend_seconds: 300, retention_days: 0 },
          supports_pitr: "false",
          earliest_restore_time: "",
          connection: {
            hostname: "127.0.0.1",
            port: expect.any(Number),
            protocol: "postgres",
            driver: "pgsql",
            "": credentials,
            ...credentials,
          },
        },
        relationships: {
          databases: { data: [{ id: expect.stringMatching(/^schema-/), type: "databaseSchemas" }] },
        },
        meta: {
          engine: null,
          limits: null,
          sleep: UNSEEN,
          last_error: null,
          overdue: false,
          storage_bytes: null,
          version: "18",
          former_credentials: null,
          backup: null,
          restore: null,
          origin: null,
          refresh: null,
          replicas: [],
        },
      },
      included: [
        {
          id: schema?.id,
          type: "databaseSchemas",
          attributes: { name: "main", status: "creating", created_at: body.data.attributes.created_at },
          relationships: {
            database: { data: { id: body.data.id, type: "databases" } },
            environments: { data: [] },
          },
        },
      ],
    });
    expect(await counts(body.data.id)).toEqual({ databases: 1, schemas: 1, ports: 1, work: 1, audit: 1 });
  });

  test("without a default database creates an empty cluster", async () => {
    const json = { ...validDatabase, type: "provider_managed_postgres", create_default_database: false };
    const { status, body } = await create(json, path);
    expect(status).toBe(201);
    expect(body.included).toEqual([]);
    expect(body.data.relationships.databases.data).toEqual([]);
  });

  test.each(["platform_mysql", "provider_managed_mysql"])("%s speaks MySQL", async (type) => {
    const { body } = await create({ ...validDatabase, type }, path);
    expect(body.data.attributes.connection).toMatchObject({ protocol: "mysql", driver: "mysql" });
    expect(body.data.meta.version).toBe("10.11");
  });
});

describe("the former path", () => {
  const former = { Deprecation: "@1769904000", Sunset: "Tue, 01 Feb 2028 00:00:00 GMT" };

  test("is marked as deprecated in every answer, with the address to use", async () => {
    const { body } = await create();
    const requests: [path: string, method: string, token: string | null, status: number][] = [
      ["", "POST", api.token, 422],
      ["", "GET", api.token, 200],
      ["", "GET", null, 401],
      [`/${body.data.id}`, "GET", api.token, 200],
      [`/${body.data.id}`, "DELETE", api.token, 204],
      ["/db-1", "GET", api.token, 404],
      ["/%3E%22", "GET", api.token, 404],
    ];
    for (const [path, method, token, status] of requests) {
      const response = await api.request(`/api/databases${path}`, { method, token });
      expect(response.status).toBe(status);
      for (const [name, value] of Object.entries(former)) expect(response.headers.get(name)).toBe(value);
      const link = `</api/databases/clusters${path}>; rel="successor-version"`;
      expect(response.headers.get("link")).toBe(link);
    }
    expect(new Date(former.Sunset).getTime() / 1000).toBeGreaterThan(Number(former.Deprecation.slice(1)));
  });

  test("is the only deprecated path", async () => {
    const { headers } = await create();
    const types = await api.request("/api/databases/types");
    for (const name of ["deprecation", "sunset", "link"]) {
      expect(headers.has(name)).toBe(false);
      expect(types.headers.has(name)).toBe(false);
    }
  });

  test("shows the same clusters, and shares its Idempotency-Keys with the new path", async () => {
    const key = { "Idempotency-Key": "both paths" };
    const first = await create(validDatabase, paths[1], api, key);
    const second = await create(validDatabase, paths[0], api, key);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const { id } = first.body.data;
    const answers = await Promise.all(
      paths.map(async (path) => await (await api.request(`${path}/${id}`)).json()),
    );
    expect(answers[0]).toEqual(answers[1]);
  });
});

describe("creates of database clusters with an Idempotency-Key", () => {
  test("make one cluster when twenty arrive at once", async () => {
    const key = { "Idempotency-Key": "at once" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create(validDatabase, paths[0], api, key)),
    );
    const ids = new Set(answers.map(({ body }) => body.data.id));
    expect(ids.size).toBe(1);
    const [id = ""] = ids;
    expect(await counts(id)).toEqual({ databases: 1, schemas: 1, ports: 1, work: 1, audit: 1 });
    expect(answers.every(({ body }) => body.included?.length === 1)).toBe(true);
  });

  test("are the same request whatever unknown members config has, and in any order of members", async () => {
    const key = { "Idempotency-Key": "config" };
    const config = { cu_min: 0.5, cu_max: 2 };
    const first = await create({ ...validDatabase, config }, paths[0], api, key);
    const again = { cu_max: 2, color: "red", cu_min: 0.5, suspend_seconds: null };
    const second = await create({ ...validDatabase, config: again }, paths[0], api, key);
    expect(second.body.data.id).toBe(first.body.data.id);
    const other = await create({ ...validDatabase, config: { ...config, cu_max: 4 } }, paths[0], api, key);
    expect(Object.keys(other.body.errors ?? {})).toEqual(["Idempotency-Key"]);
  });

  test("are a conflict once their cluster is deleted", async () => {
    const key = { "Idempotency-Key": "gone" };
    const { body } = await create(validDatabase, paths[0], api, key);
    await api.db.begin((tx) => eraseDatabaseCluster(tx, body.data.id));
    expect((await create(validDatabase, paths[0], api, key)).status).toBe(409);
  });
});

describe.each(paths)("DELETE %s/:id", (path) => {
  test("answers at once, however often it is repeated, and deletes the databases of the cluster", async () => {
    const { body } = await create(validDatabase, path);
    const { id } = body.data;
    for (let times = 0; times < 2; times++) {
      const response = await api.request(`${path}/${id}`, { method: "DELETE" });
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
    }
    const shown = (await (await api.request(`${path}/${id}?include=databases`)).json()) as Answer;
    expect(shown.data.attributes.status).toBe("deleting");
    expect(shown.included?.map(({ attributes }) => attributes.status)).toEqual(["deleting"]);
    expect(await counts(id)).toMatchObject({ work: 1, audit: 2 });
    await api.db.begin((tx) => eraseDatabaseCluster(tx, id));
    expect((await api.request(`${path}/${id}`)).status).toBe(404);
    expect((await api.request(`${path}/${id}`, { method: "DELETE" })).status).toBe(404);
    expect(await counts(id)).toMatchObject({ databases: 0, schemas: 0, ports: 0, audit: 2 });
  });
});

describe("access to database clusters", () => {
  test("lets a reader neither see credentials nor write", async () => {
    const token = await api.newToken(["databases:read"]);
    const { id } = (await create()).body.data;
    for (const path of paths) {
      const { data } = (await (await api.request(`${path}/${id}`, { token })).json()) as Answer;
      expect(data.attributes.connection).toEqual({
        hostname: "127.0.0.1",
        port: expect.any(Number),
        protocol: "postgres",
        driver: "pgsql",
        "": [],
      });
      expect((await api.request(path, { token, json: validDatabase })).status).toBe(403);
      expect((await api.request(`${path}/${id}`, { token, method: "DELETE" })).status).toBe(403);
    }
  });

  test("shows credentials to a token that may see them, and refuses abilities of caches", async () => {
    const { id, attributes } = (await create()).body.data;
    const token = await api.newToken(["databases:read", "databases:credentials"]);
    const { data } = (await (await api.request(`${paths[0]}/${id}`, { token })).json()) as Answer;
    expect(data.attributes.connection).toEqual(attributes.connection);
    const other = await api.newToken(["caches:read", "caches:write", "caches:credentials"]);
    expect((await api.request(`${paths[0]}/${id}`, { token: other })).status).toBe(403);
    const writer = await api.newToken(["databases:write"]);
    const made = await api.request(paths[0] ?? "", { token: writer, json: validDatabase });
    expect(made.status).toBe(201);
    expect(await made.text()).not.toContain("password");
  });

  test("is a 404 for a cluster of another organization", async () => {
    const { id } = (await create()).body.data;
    const token = await api.newToken(["*"], "elsewhere");
    for (const path of paths) {
      expect((await api.request(`${path}/${id}`, { token })).status).toBe(404);
      expect((await api.request(`${path}/${id}`, { token, method: "DELETE" })).status).toBe(404);
      const list = (await (await api.request(path, { token })).json()) as { meta: { total: number } };
      expect(list.meta.total).toBe(0);
    }
  });

  test("leaves no password in plaintext in the store or the audit", async () => {
    const { id, attributes } = (await create()).body.data;
    const rows = await api.db`select * from databases where id = ${id}`;
    const audit = await api.db`select * from audit where resource_id = ${id}`;
    expect(audit[0]).toMatchObject({ action: "create", resource_kind: "databases", details: validDatabase });
    expect(JSON.stringify([rows, audit])).not.toContain(String(attributes.connection.password));
  });
});

test("ports are distinct for many concurrent creates, of caches as well", async () => {
  const cache = { type: "platform_valkey", name: "c0", region: "eu-central-1", size: "valkey-flex-250mb" };
  const made = await Promise.all([
    ...Array.from({ length: 20 }, () => create()),
    ...Array.from({ length: 20 }, () => create(cache, "/api/caches")),
  ]);
  expect(new Set(made.map(({ body }) => body.data.attributes.connection.port)).size).toBe(40);
});

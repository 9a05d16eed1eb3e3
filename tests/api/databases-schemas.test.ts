// Databases in a cluster: creating, reading, listing and deleting them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  eraseDatabases,
  markDatabaseDeleting,
  writeDatabaseStatus,
} from "../../src/resources/databases/schemas/store.ts";
import {
  eraseDatabaseCluster,
  loadDatabaseCluster,
  writeDatabaseClusterStatus,
} from "../../src/resources/databases/store.ts";
import { startApi, validDatabase, type TestApi } from "../support/api/api.ts";

interface Schema {
  id: string;
  attributes: { name: string; status: string };
}

interface Answer {
  data: Schema;
  included?: { id: string; type: string; attributes: { connection: Record<string, unknown> } }[];
  errors?: Record<string, string[]>;
  message?: string;
}

let api: TestApi;
let cluster: string;
let path: string;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  cluster = await newCluster();
  path = `/api/databases/clusters/${cluster}/databases`;
});

async function newCluster(): Promise<string> {
  const response = await api.request("/api/databases/clusters", { json: validDatabase });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

async function create(name: unknown, headers: Record<string, string> = {}, token = api.token) {
  const response = await api.request(path, { json: { name }, headers, token });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}

async function show(id: string, query = "", token = api.token) {
  const response = await api.request(`${path}/${id}${query}`, { token });
  return { status: response.status, body: (await response.json()) as Answer };
}

const remove = async (id: string, token = api.token) =>
  (await api.request(`${path}/${id}`, { method: "DELETE", token })).status;

const names = async (query = "") => {
  const { data } = (await (await api.request(path + query)).json()) as { data: Schema[] };
  return data.map(({ attributes }) => attributes.name);
};

/** Whether the cluster was enqueued since it was last settled. */
const settle = () => api.db`update work set deadline_at = null, run_at = 'infinity' where id = ${cluster}`;
const isQueued = async () => {
  const [row] =
    await api.db`select run_at <= now() and deadline_at is not null as due from work where id = ${cluster}`;
  return row.due as boolean;
};

test("the events of a database name its cluster, also after its deletion", async () => {
  const { body } = await create("reports");
  await remove(body.data.id);
  const events = await api.request(`/api/events?filter[resource]=${body.data.id}`);
  const { data } = (await events.json()) as { data: { attributes: { type: string; details: object } }[] };
  expect(data.map(({ attributes: { type, details } }) => [type, details])).toEqual([
    ["deleting", { database: cluster }],
    ["created", { database: cluster }],
  ]);
});

describe("POST /databases/clusters/:id/databases", () => {
  test("creates no more than 1,000 databases in a cluster", async () => {
    await api.db`
      insert into database_schemas (id, database_id, name, status)
      select ${cluster} || n, ${cluster}, 'made' || n, 'available' from generate_series(1, 998) n`;
    // The cluster has `main` from its creation.
    const [last, refused] = [await create("reports"), await create("orders")];
    expect([last, refused].map(({ status, body }) => [status, body.message])).toEqual([
      [201, undefined],
      [409, "A database cluster has at most 1000 databases."],
    ]);
    expect(await remove(last.body.data.id)).toBe(204);
    expect((await create("orders")).status).toBe(409);
    await api.db.begin((tx) => eraseDatabases(tx, [last.body.data.id]));
    expect((await create("orders")).status).toBe(201);
  });

  test("creates a database, and enqueues its cluster", async () => {
    await settle();
    const { status, headers, body } = await create("reports");
    expect(status).toBe(201);
    expect(headers.get("content-type")).toBe("application/vnd.api+json");
    expect(headers.get("location")).toBe(`${api.origin}${path}/${body.data.id}`);
    expect(headers.has("deprecation")).toBe(false);
    expect(body as unknown).toEqual({
      data: {
        id: expect.stringMatching(/^schema-[0-9a-f-]{36}$/),
        type: "databaseSchemas",
        attributes: {
          name: "reports",
          status: "creating",
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        },
        relationships: {
          database: { data: { id: cluster, type: "databases" } },
          environments: { data: [] },
        },
      },
    });
    expect(await isQueued()).toBe(true);
    const [audit] = await api.db`select * from audit where resource_id = ${body.data.id}`;
    expect(audit).toMatchObject({
      action: "create",
      resource_kind: "databaseSchemas",
      details: { name: "reports", database: cluster },
    });
  });

  test.each([
    undefined,
    null,
    7,
    "",
    "a",
    "a".repeat(41),
    "Reports",
    "re ports",
    'a"; drop',
    "reports\n",
    "pöllö",
    "../x",
    "postgres",
    "template0",
    "template1",
    "mysql",
    "information_schema",
    "performance_schema",
    "sys",
    "pilvi",
    "pilvi_admin",
  ])("refuses the name %p", async (name) => {
    const { status, body } = await create(name);
    expect(status).toBe(422);
    expect(Object.keys(body.errors ?? {})).toEqual(["name"]);
    for (const sentence of body.errors?.name ?? []) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test.each(["ab", "a".repeat(40), "-_", "00", "postgres2", "mysql_old", "system", "my-pilvi"])(
    "takes the name %p",
    async (name) => expect((await create(name)).status).toBe(201),
  );

  test("refuses a name that the cluster has, even of a database that is being deleted", async () => {
    const taken = await create("main");
    expect(taken.status).toBe(422);
    expect(Object.keys(taken.body.errors ?? {})).toEqual(["name"]);
    const { body } = await create("reports");
    expect(await remove(body.data.id)).toBe(204);
    expect((await create("reports")).status).toBe(422);
    await api.db.begin((tx) => eraseDatabases(tx, [body.data.id]));
    expect((await create("reports")).status).toBe(201);
  });

  test("creates one database of concurrent requests for one name, and all of requests for many names", async () => {
    const same = await Promise.all(Array.from({ length: 20 }, () => create("reports")));
    expect(same.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 422)]);
    const various = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`various-${index}`)));
    expect(various.every(({ status }) => status === 201)).toBe(true);
    const other = await newCluster();
    const elsewhere = await api.request(`/api/databases/clusters/${other}/databases`, {
      json: { name: "reports" },
    });
    expect(elsewhere.status).toBe(201);
  });

  test("creates one database for an Idempotency-Key that arrives twenty times at once", async () => {
    const key = { "Idempotency-Key": "schema" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create("reports", key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(Object.keys((await create("other", key)).body.errors ?? {})).toEqual(["Idempotency-Key"]);
    await api.db.begin((tx) => eraseDatabaseCluster(tx, cluster));
    expect((await create("reports", key)).status).toBe(409);
  });

  test("is 409 for a cluster that is being deleted, and 404 for an unknown cluster", async () => {
    await api.request(`/api/databases/clusters/${cluster}`, { method: "DELETE" });
    expect((await create("reports")).status).toBe(409);
    await api.db.begin((tx) => eraseDatabaseCluster(tx, cluster));
    expect((await create("reports")).status).toBe(404);
    path = "/api/databases/clusters/db-1/databases";
    expect((await create("reports")).status).toBe(404);
  });
});

describe("reading databases", () => {
  test("lists the cluster's own databases in pages, the oldest first", async () => {
    await newCluster();
    for (const name of ["reports", "archive"]) await create(name);
    expect(await names()).toEqual(["main", "reports", "archive"]);
    expect(await names("?per_page=2&page=2")).toEqual(["archive"]);
  });

  test("includes the cluster on request, with credentials for a token that may see them", async () => {
    const { id } = (await create("reports")).body.data;
    expect((await show(id)).body).not.toHaveProperty("included");
    expect((await show(id, "?include=environments")).body.included).toEqual([]);
    const { included } = (await show(id, "?include=database,environments")).body;
    expect(included).toMatchObject([{ id: cluster, type: "databases" }]);
    expect(included?.[0]?.attributes.connection).toHaveProperty("password");
    const reader = await api.newToken(["databases:read"]);
    const hidden = (await show(id, "?include=database", reader)).body.included;
    expect(hidden?.[0]?.attributes.connection).toMatchObject({ "": [] });
    expect(hidden?.[0]?.attributes.connection).not.toHaveProperty("password");
    const refused = await show(id, "?include=cluster");
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain("`database`, `environments`");
    const list = (await (await api.request(`${path}?include=database`)).json()) as Answer;
    expect(list.included).toHaveLength(1);
  });

  test("waits for a status, and for the deletion", async () => {
    const { id } = (await create("reports")).body.data;
    const held = show(id, "?wait=available");
    await api.db.begin((tx) => writeDatabaseStatus(tx, id, "available"));
    expect((await held).body.data.attributes.status).toBe("available");
    const gone = show(id, "?wait=deleted");
    await api.db.begin((tx) => eraseDatabaseCluster(tx, cluster));
    expect((await gone).status).toBe(404);
    const response = await api.request(`${path}/${id}?wait=updating`);
    expect(response.status).toBe(422);
  });

  test.each(["schema-1", "main", "%00", "schema-01a1fcea-34ae-71c3-a5f2-5aec2124f584"])(
    "%p is not there",
    async (id) => {
      expect((await show(id)).status).toBe(404);
      expect(await remove(id)).toBe(404);
    },
  );

  test("is a 404 for a database of another cluster or organization", async () => {
    const { id } = (await create("reports")).body.data;
    const other = await newCluster();
    for (const method of ["GET", "DELETE"]) {
      const response = await api.request(`/api/databases/clusters/${other}/databases/${id}`, { method });
      expect(response.status).toBe(404);
    }
    const token = await api.newToken(["*"], "elsewhere");
    expect((await show(id, "", token)).status).toBe(404);
    expect(await remove(id, token)).toBe(404);
    expect((await api.request(path, { token })).status).toBe(404);
    expect((await create("mine", {}, token)).status).toBe(404);
    expect((await show(id)).status).toBe(200);
  });

  test("needs the ability", async () => {
    const token = await api.newToken(["databases:read"]);
    expect((await create("reports", {}, token)).status).toBe(403);
    const { id } = (await create("reports")).body.data;
    expect(await remove(id, token)).toBe(403);
    expect((await show(id, "", await api.newToken(["databases:write"]))).status).toBe(403);
  });
});

describe("DELETE of a database", () => {
  test("answers at once, however often it is repeated, and leaves the cluster usable", async () => {
    const row = await loadDatabaseCluster(api.db, cluster);
    const [main] = row?.schemas ?? [];
    if (main === undefined) throw new Error("a cluster begins with a database");
    await settle();
    for (let times = 0; times < 2; times++) expect(await remove(main.id)).toBe(204);
    expect(await isQueued()).toBe(true);
    expect((await show(main.id)).body.data.attributes.status).toBe("deleting");
    const audit = await api.db`select action from audit where resource_id = ${main.id}`;
    expect(audit.map(({ action }: { action: string }) => action)).toEqual(["delete"]);
    await api.db.begin((tx) => eraseDatabases(tx, [main.id]));
    expect(await names()).toEqual([]);
    expect((await create("again")).status).toBe(201);
  });
});

describe("the result of a run", () => {
  test("does not undo a request to delete that arrived meanwhile", async () => {
    const { id } = (await create("reports")).body.data;
    await api.db.begin((tx) => markDatabaseDeleting(tx, id));
    await api.db.begin((tx) => writeDatabaseStatus(tx, id, "available"));
    expect((await show(id)).body.data.attributes.status).toBe("deleting");
    await api.request(`/api/databases/clusters/${cluster}`, { method: "DELETE" });
    const limits = { memoryBytes: 1, enforcedBy: "engine" as const };
    const engine = { name: "postgres" as const, version: "18.1", warning: null };
    await api.db.begin((tx) =>
      writeDatabaseClusterStatus(tx, cluster, "available", { engine, limits, lastError: null }),
    );
    await api.db.begin((tx) =>
      writeDatabaseClusterStatus(tx, cluster, "available", { engine: null, limits: null, lastError: null }),
    );
    expect(await loadDatabaseCluster(api.db, cluster)).toMatchObject({ status: "deleting", engine, limits });
  });

  test("starts with a row that has the whole order, and the databases, the oldest first", async () => {
    await create("reports");
    expect(await loadDatabaseCluster(api.db, cluster)).toMatchObject({
      type: "hosted_serverless_postgres",
      engineName: "postgres",
      version: "18",
      config: { cu_min: 0.25 },
      schemas: [
        { name: "main", status: "creating", databaseId: cluster },
        { name: "reports", status: "creating", createdAt: expect.stringMatching(/\.\d{6}Z$/) },
      ],
    });
    expect(await loadDatabaseCluster(api.db, "db-1")).toBeNull();
  });
});

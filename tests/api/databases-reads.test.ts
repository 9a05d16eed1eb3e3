// Reading and listing database clusters, under their path and under the former path.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseDatabaseCluster } from "../../src/resources/databases/store.ts";
import { notify } from "../../src/store/notifications.ts";
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
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const paths = ["/api/databases/clusters", "/api/databases"];

async function create(json: unknown = validDatabase, path = paths[0] ?? "", own = api) {
  const response = await own.request(path, { json });
  return { status: response.status, body: (await response.json()) as Answer };
}

describe.each(paths)("GET %s", (path) => {
  let own: TestApi;
  beforeAll(async () => {
    own = await startApi();
    await create({ ...validDatabase, name: "one" }, path, own);
    await create({ ...validDatabase, name: "two", type: "platform_mysql", region: "us-east-1" }, path, own);
    await create({ ...validDatabase, name: "three", type: "provider_managed_postgres" }, path, own);
  });
  afterAll(() => own.stop());

  interface List {
    data: Cluster[];
    included?: { attributes: { name: string } }[];
    links: Record<string, string>;
    meta: { total: number };
    message: string;
  }
  const list = async (query: string) => {
    const response = await own.request(path + query);
    return { status: response.status, body: (await response.json()) as List };
  };
  const names = ({ body }: { body: List }) => body.data.map(({ attributes }) => attributes.name);

  test.each([
    ["", ["one", "two", "three"]],
    ["?filter[type]=platform_mysql", ["two"]],
    ["?filter[type]=platform_mysql,hosted_serverless_postgres", ["one", "two"]],
    ["?filter[region]=us-east-1", ["two"]],
    ["?filter[status]=available", []],
    ["?filter[status]=creating&filter[region]=eu-central-1", ["one", "three"]],
    ["?per_page=1&page=2", ["two"]],
  ])("%s", async (query, expected) => expect(names(await list(query))).toEqual(expected));

  test("has pages whose links stay on the same path", async () => {
    const { body } = await list("?per_page=2");
    expect(body.links.next).toStartWith(`${own.origin}${path}?`);
    expect(body.meta.total).toBe(3);
  });

  test("includes the databases for a client that asks for them", async () => {
    expect((await list("")).body).not.toHaveProperty("included");
    const { body } = await list("?include=databases");
    expect(body.included?.map(({ attributes }) => attributes.name)).toEqual(["main", "main", "main"]);
    expect(body.data.every(({ relationships }) => relationships.databases.data.length === 1)).toBe(true);
  });

  test.each([
    ["?include=schemas", "`databases`"],
    ["?filter[name]=one", "`filter[type]`"],
  ])("%s is 400 and names what is allowed", async (query, allowed) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    expect(body.message).toContain(allowed);
  });
});

describe.each(paths)("GET %s/:id", (path) => {
  const show = async (id: string, query = "") => {
    const response = await api.request(`${path}/${id}${query}`);
    return { status: response.status, body: (await response.json()) as Answer };
  };

  test("shows the created cluster, and includes the databases for a client that asks for them", async () => {
    const config = { size: "mysql-pro-8gb", storage: 20 };
    const made = await create({ ...validDatabase, type: "platform_mysql", config }, path);
    const shown = await show(made.body.data.id);
    expect(shown.body).toEqual({ data: made.body.data });
    expect((await show(made.body.data.id, "?include=databases")).body).toEqual(made.body);
  });

  test("shows the running engine, the config in force, and the last error", async () => {
    const { id } = (await create()).body.data;
    const limits = { memoryBytes: 1, cpus: 0.25, maxConnections: 104, enforcedBy: "cgroup-v1" };
    await api.db`
      update databases set engine = ${{ name: "postgres", version: "18.1" }}, limits = ${limits} where id = ${id}`;
    await api.db`update work set last_error = 'No memory.', deadline_at = now() - interval '1 s' where id = ${id}`;
    expect((await show(id)).body.data.meta).toEqual({
      engine: { name: "postgres", version: "18.1", warning: null },
      limits: {
        memory_bytes: 1,
        cpus: 0.25,
        max_connections: 104,
        max_processes: null,
        enforced_by: "cgroup-v1",
      },
      sleep: UNSEEN,
      last_error: "No memory.",
      overdue: true,
      storage_bytes: null,
      version: "18",
      former_credentials: null,
      backup: null,
      restore: null,
      origin: null,
      refresh: null,
      replicas: [],
    });
  });

  test("waits for a status, and for the deletion", async () => {
    const { id } = (await create()).body.data;
    const held = show(id, "?wait=available");
    await api.db.begin(async (tx) => {
      await tx`update databases set status = 'available' where id = ${id}`;
      await notify(tx, "status", id);
    });
    expect((await held).body.data.attributes.status).toBe("available");
    const gone = show(id, "?wait=deleted");
    await api.db.begin((tx) => eraseDatabaseCluster(tx, id));
    expect((await gone).status).toBe(404);
  });
});

// The OpenAPI document matches the API's answers about databases.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseDatabaseCluster } from "../../src/resources/databases/store.ts";
import { startApi, validDatabase, type TestApi } from "../support/api/api.ts";
import {
  bodyValidatorOf,
  documentOf,
  expectDocumented,
  type Document,
  type Json,
} from "../support/api/openapi.ts";

let api: TestApi;
let document: Document;
beforeAll(async () => {
  api = await startApi();
  document = await documentOf(api);
});
afterAll(() => api.stop());

const clusters = "/databases/clusters";
const former = "/databases";

async function newCluster(): Promise<string> {
  const response = await api.request(`/api${clusters}`, { json: validDatabase });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

describe("the OpenAPI document", () => {
  test("has every operation, and marks the operations under the former path as deprecated", () => {
    const operations = Object.entries(document.paths)
      .filter(([path]) => path.startsWith(former))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
      );
    const named = (isDeprecated: boolean) =>
      operations
        .filter(({ operation }) => (operation.deprecated ?? false) === isDeprecated)
        .map(({ path, method, operation }) => `${method} ${path} ${operation.operationId}`)
        .sort();
    expect(named(true)).toEqual([
      "delete /databases/{id} deleteDatabase",
      "get /databases listDatabases",
      "get /databases/{id} getDatabase",
      "patch /databases/{id} updateDatabase",
      "post /databases createDatabase",
      "post /databases/{id}/rotate-credentials rotateDatabaseCredentials",
      "post /databases/{id}/suspend suspendDatabase",
    ]);
    expect(named(false)).toEqual([
      "delete /databases/clusters/{id} deleteDatabaseCluster",
      "delete /databases/clusters/{id}/backups purgeDatabaseClusterBackups",
      "delete /databases/clusters/{id}/databases/{schema} deleteDatabaseSchema",
      "delete /databases/clusters/{id}/queries/{query} cancelDatabaseClusterQuery",
      "delete /databases/clusters/{id}/snapshots/{snapshot} deleteDatabaseClusterSnapshot",
      "delete /databases/clusters/{id}/statements resetDatabaseClusterStatements",
      "get /databases/clusters listDatabaseClusters",
      "get /databases/clusters/{id} getDatabaseCluster",
      "get /databases/clusters/{id}/backups getDatabaseClusterBackups",
      "get /databases/clusters/{id}/databases listDatabaseSchemas",
      "get /databases/clusters/{id}/databases/{schema} getDatabaseSchema",
      "get /databases/clusters/{id}/logs readDatabaseClusterLogs",
      "get /databases/clusters/{id}/metrics getDatabaseClusterMetrics",
      "get /databases/clusters/{id}/queries listDatabaseClusterQueries",
      "get /databases/clusters/{id}/snapshots listDatabaseSnapshots",
      "get /databases/clusters/{id}/snapshots/{snapshot} getDatabaseClusterSnapshot",
      "get /databases/clusters/{id}/statements listDatabaseClusterStatements",
      "get /databases/types listDatabaseTypes",
      "patch /databases/clusters/{id} updateDatabaseCluster",
      "post /databases/clusters createDatabaseCluster",
      "post /databases/clusters/{id}/clone createDatabaseClone",
      "post /databases/clusters/{id}/databases createDatabaseSchema",
      "post /databases/clusters/{id}/databases/{schema}/query runQuery",
      "post /databases/clusters/{id}/end-grace endDatabaseClusterGrace",
      "post /databases/clusters/{id}/refresh refreshDatabaseCluster",
      "post /databases/clusters/{id}/restore createDatabaseRestore",
      "post /databases/clusters/{id}/restores createDatabaseClusterRestore",
      "post /databases/clusters/{id}/rotate-credentials rotateDatabaseClusterCredentials",
      "post /databases/clusters/{id}/snapshots createDatabaseSnapshot",
      "post /databases/clusters/{id}/suspend suspendDatabaseCluster",
    ]);
    for (const { operation } of operations.filter((one) => one.operation.deprecated)) {
      const success = operation.responses["200"] ?? operation.responses["201"] ?? operation.responses["204"];
      for (const name of ["Deprecation", "Sunset", "Link"]) expect(success?.headers).toHaveProperty(name);
    }
  });

  test("has the member with the empty name", () => {
    expect(document.components.schemas.DatabaseConnection?.properties).toHaveProperty([""]);
    expect(document.components.schemas.DatabaseConnection?.required).toContain("");
  });

  test("has one config for each type, in requests and in answers", () => {
    expect(document.components.schemas.DatabaseConfig?.oneOf).toHaveLength(3);
    expect(document.components.schemas.NewDatabaseCluster?.oneOf).toHaveLength(4);
  });
});

describe.each([clusters, former])("answers of %s are as documented", (path) => {
  const post = (json: unknown, headers: Record<string, string> = {}, token: string | null = api.token) =>
    api.request(`/api${path}`, { json, headers, token });

  test("for creates", async () => {
    const key = { "Idempotency-Key": path };
    const created = await post(validDatabase, key);
    const { id } = ((await created.clone().json()) as { data: { id: string } }).data;
    const answers = [
      created,
      await post(validDatabase, key),
      await post({ ...validDatabase, type: "platform_mysql" }),
      await post({ ...validDatabase, type: "provider_managed_mysql", create_default_database: false }),
      await post(validDatabase, {}, await api.newToken(["databases:write"])),
      await post({}),
      await post({ ...validDatabase, config: { cu_min: 3 } }),
      await post(validDatabase, {}, null),
      await post(validDatabase, {}, await api.newToken(["databases:read"])),
    ];
    await api.db.begin((tx) => eraseDatabaseCluster(tx, id));
    answers.push(await post(validDatabase, key));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 422, 422, 401, 403, 409]);
    for (const answer of answers) await expectDocumented(document, path, "post", answer);
  });

  test("for reads, lists and deletes", async () => {
    const id = await newCluster();
    const limits = { memoryBytes: 1, cpus: 0.25, maxConnections: 104, enforcedBy: "cgroup-v2" };
    await api.db`
      update databases set engine = ${{ name: "postgres", version: "18.1" }}, limits = ${limits} where id = ${id}`;
    const one = `${path}/{id}`;
    const requests: [path: string, documented: string, method: string, status: number][] = [
      [`${path}/${id}`, one, "get", 200],
      [`${path}/${id}?include=databases&wait=creating`, one, "get", 200],
      [`${path}/${id}?include=x`, one, "get", 400],
      [`${path}/${id}?wait=x`, one, "get", 422],
      [`${path}/x`, one, "get", 404],
      [path, path, "get", 200],
      [`${path}?per_page=1&page=2&include=databases`, path, "get", 200],
      [`${path}?filter[x]=1`, path, "get", 400],
      [`${path}?filter[type]=1`, path, "get", 422],
      [`${path}/${id}`, one, "delete", 204],
      [`${path}/x`, one, "delete", 404],
    ];
    for (const [address, documented, method, status] of requests) {
      const response = await api.request(`/api${address}`, { method: method.toUpperCase() });
      expect(response.status).toBe(status);
      await expectDocumented(document, documented, method, response);
    }
  });
});

test("answers about types are as documented", async () => {
  await expectDocumented(document, "/databases/types", "get", await api.request("/api/databases/types"));
});

test("answers about databases in a cluster are as documented", async () => {
  const id = await newCluster();
  const path = `/api${clusters}/${id}/databases`;
  const list = `${clusters}/{id}/databases`;
  const created = await api.request(path, { json: { name: "reports" } });
  const { id: schema } = ((await created.clone().json()) as { data: { id: string } }).data;
  const send = (address: string, method = "GET") => api.request(path + address, { method });
  const answers: [documented: string, method: string, status: number, response: Response][] = [
    [list, "post", 201, created],
    [list, "post", 422, await api.request(path, { json: { name: "reports" } })],
    [list, "get", 200, await send("?include=database")],
    [list, "get", 400, await send("?include=x")],
    [`${list}/{schema}`, "get", 200, await send(`/${schema}?include=database,environments`)],
    [`${list}/{schema}`, "get", 404, await send("/x")],
    [`${list}/{schema}`, "delete", 204, await send(`/${schema}`, "DELETE")],
  ];
  await api.request(`/api${clusters}/${id}`, { method: "DELETE" });
  answers.push([list, "post", 409, await api.request(path, { json: { name: "late" } })]);
  for (const [documented, method, status, response] of answers) {
    expect(response.status).toBe(status);
    await expectDocumented(document, documented, method, response);
  }
});

test("answers about queries and statements are as documented", async () => {
  const id = await newCluster();
  const { driver } = api.host;
  const [queries, statements] = [`${clusters}/{id}/queries`, `${clusters}/{id}/statements`];
  const queryId = "4711-hgk2j4x9s0-2n9c";
  const text = { text: "select 1", isCut: false, user: "app", database: "main" };
  driver.queries = async () => ({
    isAsleep: false,
    total: 1,
    queries: [
      {
        ...text,
        id: queryId,
        application: null,
        address: null,
        state: "active",
        wait: "Timeout: PgSleep",
        durationMs: 1.23456,
        transactionMs: null,
      },
    ],
  });
  const times = { calls: 2, totalMs: 3.00049, meanMs: 1.5, maxMs: 2, rows: 2, blocksHit: 3, blocksRead: 1 };
  driver.statements = async (_, { limit }) => ({
    isAsleep: false,
    total: limit,
    since: "2026-03-15T08:18:53.204Z",
    statements: [{ ...text, ...times, id: "1.2.3" }],
  });
  driver.resetStatements = async () => undefined;
  const outcomes = ["cancelled", "ended", "idle"] as const;
  let asked = 0;
  driver.cancel = async () => ({ outcome: outcomes[asked++] ?? "ended" });
  const send = (address: string, method = "GET", token = api.token) =>
    api.request(`/api${clusters}/${id}${address}`, { method, token });
  const reader = await api.newToken(["databases:read"]);
  const one = `/queries/${queryId}`;
  const answers: [documented: string, method: string, status: number, response: Response][] = [
    [queries, "get", 200, await send("/queries?idle=true", "GET", reader)],
    [queries, "get", 422, await send("/queries?idle=1")],
    [queries, "get", 403, await send("/queries", "GET", await api.newToken(["databases:write"]))],
    [`${queries}/{query}`, "delete", 204, await send(one, "DELETE")],
    [`${queries}/{query}`, "delete", 404, await send(`${one}?scope=session`, "DELETE")],
    [`${queries}/{query}`, "delete", 409, await send(one, "DELETE")],
    [`${queries}/{query}`, "delete", 404, await send("/queries/1%20or%201", "DELETE")],
    [`${queries}/{query}`, "delete", 422, await send(`${one}?scope=all`, "DELETE")],
    [`${queries}/{query}`, "delete", 403, await send(one, "DELETE", reader)],
    [statements, "get", 200, await send("/statements?sort=calls&limit=7", "GET", reader)],
    [statements, "get", 422, await send("/statements?sort=text&limit=101")],
    [statements, "delete", 204, await send("/statements", "DELETE")],
    [statements, "delete", 403, await send("/statements", "DELETE", reader)],
  ];
  expect(answers.map(([, , , { status }]) => status)).toEqual(answers.map(([, , status]) => status));
  const documents = await Promise.all(answers.map(([, , , response]) => response.clone().text()));
  expect(JSON.parse(documents[0] ?? "")).toMatchObject({ data: [{ attributes: { duration_ms: 1.235 } }] });
  expect(JSON.parse(documents[9] ?? "")).toMatchObject({
    data: [{ attributes: { total_time_ms: 3, cache_hit_ratio: 0.75 } }],
    meta: { total: 7, sort: "calls" },
  });
  for (const [documented, method, , response] of answers)
    await expectDocumented(document, documented, method, response);
  const audit = await api.db<
    { action: string }[]
  >`select action from audit where resource_id = ${id} order by id`;
  expect(audit.map(({ action }) => action)).toEqual([
    "create",
    "cancel-query",
    "end-session",
    "cancel-query",
    "reset-statements",
  ]);
});

/** Fails unless the documented schema and the API both accept the body, or both refuse it. */
async function expectSame(path: string, documented: string, body: object): Promise<void> {
  const { status } = await api.request(path, { json: body });
  const isTaken = bodyValidatorOf(document, documented, "post").safeParse(body).success;
  expect({ body, isTaken: status === 201 }).toEqual({ body, isTaken });
}

describe("requests are accepted or refused by the schema and the API alike", () => {
  test("members of the body", async () => {
    const values = [null, "", "ab", "platform_mysql", 0, 1.5, true, false, {}, []];
    // No schema can say which versions are installed.
    for (const member of ["type", "name", "region", "config", "create_default_database", "other"]) {
      for (const value of values) {
        await expectSame(`/api${clusters}`, clusters, { ...validDatabase, [member]: value });
      }
    }
  });

  test.each(["platform_mysql", "provider_managed_postgres", "hosted_serverless_postgres"])(
    "members of the config of %s",
    async (type) => {
      const members = ["cu_max", "suspend_seconds", "size", "storage", "is_public", "read_replicas"];
      const more = ["retention_days", "maintenance_window", "deployment_option", "other"];
      const values = [
        null,
        "",
        "1",
        0,
        0.25,
        1,
        19,
        31,
        1001,
        604_801,
        true,
        "mysql-flex-1gb",
        "db.r8g.large",
        "sun:06:00-sun:06:30",
        "multi-az",
      ];
      for (const member of [...members, ...more]) {
        for (const value of values) {
          // A replica needs other members, which the schema says in words.
          if (member === "read_replicas" && value === 1) continue;
          await expectSame(`/api${clusters}`, clusters, {
            ...validDatabase,
            type,
            config: { [member]: value },
          });
        }
      }
    },
  );

  test("names of databases in a cluster", async () => {
    const path = `/api${clusters}/${await newCluster()}/databases`;
    const documented = `${clusters}/{id}/databases`;
    for (const name of [null, "", "a", "ab", "A", "postgres2", "a".repeat(41), 7]) {
      await expectSame(path, documented, { name });
    }
    const properties = document.components.schemas.NewDatabaseSchema?.properties as Json | undefined;
    const name = properties?.name as Json;
    const patterns = (name.allOf as { pattern: string }[]).map(({ pattern }) => new RegExp(pattern));
    for (const reserved of ["postgres", "template1", "mysql", "sys", "pilvi", "pilvi_x"]) {
      expect(patterns.every((pattern) => pattern.test(reserved))).toBe(false);
    }
  });
});

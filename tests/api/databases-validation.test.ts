// Requests for a database cluster that are refused, with every failing field named at once, and the values in force
// otherwise.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { managedSizes, platformSizes } from "../../src/resources/databases/sizes.ts";
import { startApi, validDatabase, type TestApi } from "../support/api/api.ts";

interface Answer {
  message: string;
  errors?: Record<string, string[]>;
  data?: { attributes: { config: Record<string, unknown> } };
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const create = async (json: unknown, path = "/api/databases/clusters") => {
  const response = await api.request(path, { json });
  return { status: response.status, body: (await response.json()) as Answer };
};

const platform = { ...validDatabase, type: "platform_mysql" };
const managedMysql = { ...validDatabase, type: "provider_managed_mysql" };
const managedPostgres = { ...validDatabase, type: "provider_managed_postgres" };
const required = ["type", "name", "region"];

const refused: [what: string, body: unknown, fields: string[]][] = [
  ["nothing", {}, required],
  ["all null", { type: null, name: null, region: null }, required],
  ["an array", [], ["body"]],
  ["an unknown type", { ...validDatabase, type: "oracle" }, ["type"]],
  ["a type with its version baked in", { ...validDatabase, type: "hosted_serverless_postgres_17" }, ["type"]],
  ["a short name", { ...validDatabase, name: "a" }, ["name"]],
  ["a long name", { ...validDatabase, name: "a".repeat(41) }, ["name"]],
  ["capitals in the name", { ...validDatabase, name: "Orders" }, ["name"]],
  ["an unknown region", { ...validDatabase, region: "eu-north-1" }, ["region"]],
  ["a version that is not installed", { ...validDatabase, version: "16" }, ["version"]],
  ["the beginning of a number of the version", { ...validDatabase, version: "1" }, ["version"]],
  ["an empty version", { ...validDatabase, version: "" }, ["version"]],
  ["a version that is a number", { ...validDatabase, version: 17 }, ["version"]],
  ["a version of another engine", { ...platform, version: "17" }, ["version"]],
  ["a cluster that does not exist", { ...validDatabase, cluster_id: "dc-1" }, ["cluster_id"]],
  ["a cluster that is a number", { ...validDatabase, cluster_id: 7 }, ["cluster_id"]],
  ["a string for a boolean", { ...platform, create_default_database: "no" }, ["create_default_database"]],
  [
    "serverless without a default database",
    { ...validDatabase, create_default_database: false },
    ["create_default_database"],
  ],
  ["a config that is a string", { ...validDatabase, config: "large" }, ["config"]],
  ["a config that is an array", { ...validDatabase, config: [] }, ["config"]],
  [
    "faults within and between fields",
    {
      ...validDatabase,
      name: "A",
      version: "16",
      cluster_id: "x",
      create_default_database: false,
      config: { cu_min: 2, cu_max: 1, suspend_seconds: -1, retention_days: "7" },
    },
    [
      "name",
      "version",
      "cluster_id",
      "create_default_database",
      "config.cu_min",
      "config.suspend_seconds",
      "config.retention_days",
    ],
  ],
];

const refusedConfigs: [body: object, config: Record<string, unknown>][] = [
  [validDatabase, { cu_min: 3 }],
  [validDatabase, { cu_min: 0 }],
  [validDatabase, { cu_max: 0.3 }],
  [validDatabase, { cu_max: "1" }],
  [validDatabase, { suspend_seconds: 604_801 }],
  [validDatabase, { suspend_seconds: 1.5 }],
  [validDatabase, { suspend_seconds: true }],
  [validDatabase, { retention_days: 31 }],
  [validDatabase, { retention_days: -1 }],
  [platform, { size: "db.t4g.micro" }],
  [platform, { size: "mysql-flex-4gb" }],
  [platform, { storage: 4 }],
  [platform, { storage: 1001 }],
  [platform, { storage: 5.5 }],
  [platform, { is_public: "true" }],
  [platform, { uses_scheduled_snapshots: 1 }],
  [platform, { retention_days: 31 }],
  [platform, { maintenance_window: "sunday" }],
  [platform, { maintenance_window: "sun:24:00-sun:06:30" }],
  [platform, { maintenance_window: "sun:06:00-sun:06:30\n" }],
  [platform, { storage_autoscale_max_gb: 1001 }],
  [platform, { suspend_seconds: 604_801 }],
  [managedMysql, { size: "mysql-flex-1gb" }],
  [managedMysql, { size: "db.m7g.48xlarge" }],
  [managedMysql, { storage: 19 }],
  [managedMysql, { storage: 65_537 }],
  [managedMysql, { is_public: 0 }],
  [managedPostgres, { uses_pitr: "yes" }],
  [managedPostgres, { retention_days: 30.5 }],
  [managedPostgres, { deployment_option: "triple-az" }],
  [managedPostgres, { deployment_option: "multi-az" }],
  [managedPostgres, { deployment_option: "single-az-with-read-replicas" }],
  [managedPostgres, { read_replicas: 1 }],
  [managedPostgres, { read_replicas: 6 }],
  [managedPostgres, { read_replicas: "1" }],
  [managedPostgres, { maintenance_window: 7 }],
];

function expectFaults({ status, body }: { status: number; body: Answer }, fields: string[]): void {
  expect(status).toBe(422);
  expect(Object.keys(body.errors ?? {}).sort()).toEqual([...fields].sort());
  for (const sentences of Object.values(body.errors ?? {})) {
    expect(sentences.length).toBeGreaterThan(0);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
  }
  for (const field of fields) expect(body.message).toContain(field);
}

describe.each(["/api/databases/clusters", "/api/databases"])("POST %s refuses", (path) => {
  test.each(refused)("%s", async (_what, body, fields) => expectFaults(await create(body, path), fields));

  test.each(refusedConfigs)("%p with %p", async (body, config) => {
    const fields = Object.keys(config).map((member) => `config.${member}`);
    expectFaults(await create({ ...body, config }, path), fields);
  });
});

describe("a config is refused for rules between members:", () => {
  test.each([
    ["cu_min above cu_max", validDatabase, { cu_min: 4, cu_max: 2 }, "config.cu_min"],
    [
      "sleep of a pro size",
      platform,
      { size: "mysql-pro-4gb", suspend_seconds: 60 },
      "config.suspend_seconds",
    ],
    [
      "sleep of an older pro size",
      platform,
      { size: "db-pro.m-1vcpu-4gb", suspend_seconds: 1 },
      "config.suspend_seconds",
    ],
    [
      "growth below storage",
      platform,
      { storage: 50, storage_autoscale_max_gb: 20 },
      "config.storage_autoscale_max_gb",
    ],
    [
      "replicas without backups",
      managedPostgres,
      { deployment_option: "single-az-with-read-replicas", read_replicas: 1 },
      "config.read_replicas",
    ],
    [
      "replicas of a MySQL",
      managedMysql,
      { deployment_option: "single-az-with-read-replicas", read_replicas: 1, uses_pitr: true },
      "config.read_replicas",
    ],
    [
      "replicas of a cluster without",
      managedPostgres,
      { deployment_option: "single-az", read_replicas: 1, uses_pitr: true },
      "config.read_replicas",
    ],
    [
      "no replica of a cluster with replicas",
      managedPostgres,
      { deployment_option: "single-az-with-read-replicas", read_replicas: 0, uses_pitr: true },
      "config.read_replicas",
    ],
  ])("%s", async (_what, body, config, field) => expectFaults(await create({ ...body, config }), [field]));
});

test("a spread over machines is refused with the reason", async () => {
  const { body } = await create({ ...managedPostgres, config: { deployment_option: "multi-az" } });
  expect(body.errors).toEqual({
    "config.deployment_option": [
      "The field config.deployment_option cannot be multi-az: all copies would be on this one machine, and its loss would be the loss of all.",
    ],
  });
});

describe("the config in force", () => {
  const inForce: [body: object, config: object | null | undefined, expected: object][] = [
    [validDatabase, undefined, { cu_min: 0.25, cu_max: 0.25, suspend_seconds: 300, retention_days: 0 }],
    [validDatabase, null, { cu_min: 0.25, cu_max: 0.25, suspend_seconds: 300, retention_days: 0 }],
    [validDatabase, { cu_min: 4 }, { cu_min: 4, cu_max: 4, suspend_seconds: 300, retention_days: 0 }],
    [validDatabase, { cu_max: 10 }, { cu_min: 0.25, cu_max: 10, suspend_seconds: 300, retention_days: 0 }],
    [
      validDatabase,
      { cu_min: 0.5, cu_max: 0.5, suspend_seconds: 0, retention_days: 30, size: "x", __proto__: null },
      { cu_min: 0.5, cu_max: 0.5, suspend_seconds: 0, retention_days: 30 },
    ],
    [
      platform,
      {},
      {
        size: "mysql-flex-512mb",
        storage: 5,
        is_public: false,
        uses_scheduled_snapshots: false,
        retention_days: 0,
        maintenance_window: null,
        storage_autoscale_max_gb: null,
        suspend_seconds: 0,
      },
    ],
    [
      platform,
      { cu_min: "x", size: "db-flex.m-1vcpu-4gb", suspend_seconds: 604_800, storage: null, is_public: true },
      {
        size: "db-flex.m-1vcpu-4gb",
        storage: 5,
        is_public: true,
        uses_scheduled_snapshots: false,
        retention_days: 0,
        maintenance_window: null,
        storage_autoscale_max_gb: null,
        suspend_seconds: 604_800,
      },
    ],
    [
      managedPostgres,
      { read_replicas: 2, maintenance_window: "sun:23:30-mon:00:00", uses_pitr: true },
      {
        size: "db.t4g.micro",
        storage: 20,
        is_public: false,
        uses_pitr: true,
        retention_days: 7,
        deployment_option: "single-az-with-read-replicas",
        read_replicas: 2,
        maintenance_window: "sun:23:30-mon:00:00",
      },
    ],
  ];

  test.each(inForce)("%p with %p", async (body, config, expected) => {
    const { status, body: answer } = await create({ ...body, config });
    expect(status).toBe(201);
    expect(answer.data?.attributes.config).toEqual(expected as Record<string, unknown>);
    expect(Object.keys(answer.data?.attributes.config ?? {})).toEqual(Object.keys(expected));
  });

  test("every size of every type is accepted", async () => {
    for (const size of platformSizes)
      expect((await create({ ...platform, config: { size } })).status).toBe(201);
    for (const size of managedSizes) {
      expect((await create({ ...managedMysql, config: { size } })).status).toBe(201);
    }
  });
});

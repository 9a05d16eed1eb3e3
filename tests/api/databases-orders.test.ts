// The engine and its version, the processors, the memory and the connections that an order stands for.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { EngineName } from "../../src/contracts/engine-names.ts";
import type { Offer } from "../../src/contracts/host-answers.ts";
import { majorOf } from "../../src/engines/registry.ts";
import { configVariants } from "../../src/resources/databases/configs/index.ts";
import { choicesFor, chooseEngine } from "../../src/resources/databases/engines.ts";
import { resourcesOf } from "../../src/resources/databases/resources.ts";
import { machineOf, managedSizes } from "../../src/resources/databases/sizes.ts";
import type { DatabaseType } from "../../src/resources/databases/types.ts";
import { startApi, validDatabase, type TestApi } from "../support/api/api.ts";

interface Answer {
  errors?: Record<string, string[]>;
  data?: { meta: { version: string } };
}

const gibibyte = 1024 ** 3;
const platform = { ...validDatabase, type: "platform_mysql" };

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const create = async (json: unknown, own = api) => {
  const response = await own.request("/api/databases/clusters", { json });
  return { status: response.status, body: (await response.json()) as Answer };
};

/** An offer of engines such as `postgres 18.1`. */
function offer(...engines: string[]): Offer {
  const parts = engines.map((engine) => engine.split(" "));
  return {
    engines: parts.map(([word = "", version = ""]) => {
      const name = word as EngineName;
      return { name, version, major: majorOf(name, version) };
    }),
    memoryBytes: 1,
  };
}

const versionsOf = (type: DatabaseType, offered: Offer) =>
  choicesFor(type, offered).map(({ version }) => version);

const serverless = (cu: number) =>
  resourcesOf(
    "hosted_serverless_postgres",
    configVariants.hosted_serverless_postgres.complete({ cu_min: cu }),
  );

describe("versions of database clusters", () => {
  const some = offer(
    "postgres 9.6.24",
    "postgres 18.1",
    "mariadb 10.11.19",
    "postgres 17.6",
    "mariadb 11.4.3",
  );

  test("are offered of installed engines only, the preferred engine first and the newest version first", () => {
    expect(versionsOf("hosted_serverless_postgres", some)).toEqual(["18", "17", "9"]);
    expect(versionsOf("platform_mysql", some)).toEqual(["11.4", "10.11"]);
    expect(versionsOf("platform_mysql", offer("mariadb 11.4.2", "mariadb 11.4.10"))).toEqual(["11.4"]);
  });

  test.each([
    ["hosted_serverless_postgres", undefined, "postgres 18"],
    ["hosted_serverless_postgres", "17", "postgres 17"],
    ["provider_managed_postgres", "17.6", "postgres 17"],
    ["provider_managed_postgres", "17.7", undefined],
    ["platform_mysql", undefined, "mariadb 11.4"],
    ["platform_mysql", "11", "mariadb 11.4"],
    ["platform_mysql", "11.4.3", "mariadb 11.4"],
    ["provider_managed_mysql", "10.11", "mariadb 10.11"],
    ["provider_managed_mysql", "10.1", undefined],
  ] as const)("%s %p gives %p", (type, asked, expected) => {
    const chosen = chooseEngine(type, asked, some);
    expect(chosen && `${chosen.name} ${chosen.version}`).toBe(expected);
  });

  test("stay with the cluster for life", async () => {
    expect((await create({ ...validDatabase, version: "17" })).body.data?.meta.version).toBe("17");
    expect((await create({ ...validDatabase, version: "17.6" })).body.data?.meta.version).toBe("17");
    expect((await create({ ...validDatabase, version: null })).body.data?.meta.version).toBe("18");
  });

  test("of a type without an installed engine are all refused", async () => {
    const other = await startApi();
    other.offer.engines = other.offer.engines.filter(({ name }) => name !== "mariadb");
    for (const version of [undefined, "8.4"]) {
      const { status, body } = await create({ ...platform, name: "A", version }, other);
      expect(status).toBe(422);
      expect(Object.keys(body.errors ?? {}).sort()).toEqual(["name", "type"]);
      expect(body.errors?.type?.[0]).toContain("it needs mariadb");
      expect(body.errors?.type?.[0]).toContain("pilvi engines install");
    }
    await other.stop();
  });

  test("are a 503 until the host was reached for the first time", async () => {
    const other = await startApi();
    const offered = other.host.driver.offer;
    other.host.driver.offer = () => Promise.reject(new Error("private detail"));
    const away = await other.request("/api/databases/clusters", { json: validDatabase });
    expect(away.status).toBe(503);
    expect(away.headers.get("retry-after")).toBe("2");
    expect(await away.text()).not.toContain("private");
    other.host.driver.offer = offered;
    expect((await create(validDatabase, other)).status).toBe(201);
    await other.stop();
  });
});

test("types are listed with the members of their config and the installed versions", async () => {
  const response = await api.request("/api/databases/types");
  expect(response.headers.get("content-type")).toBe("application/json");
  const { data } = (await response.json()) as {
    data: { type: string; config_schema: { name: string }[]; versions: string[]; regions: string[] }[];
  };
  expect(data.map(({ type, versions }) => [type, versions])).toEqual([
    ["platform_mysql", ["10.11"]],
    ["provider_managed_mysql", ["10.11"]],
    ["provider_managed_postgres", ["18", "17"]],
    ["hosted_serverless_postgres", ["18", "17"]],
  ]);
  expect(data[3]?.config_schema[0] as unknown).toEqual({
    name: "cu_min",
    type: "number",
    required: false,
    nullable: true,
    description: expect.any(String),
    default: 0.25,
    example: 0.25,
    enum: [0.25, 0.5, 1, 2, 4, 8, 10],
  });
  expect(data[2]?.config_schema.find(({ name }) => name === "read_replicas")).toMatchObject({
    type: "integer",
    default: null,
    min: 0,
    max: 5,
  });
  for (const { regions } of data) expect(regions).toHaveLength(11);
});

describe("the resources of an order", () => {
  test("of compute units", () => {
    expect(serverless(0.25)).toEqual({ cpus: 0.25, memoryBytes: gibibyte, maxConnections: 104 });
    expect(serverless(1)).toEqual({ cpus: 1, memoryBytes: 4 * gibibyte, maxConnections: 419 });
    expect(serverless(10)).toEqual({ cpus: 10, memoryBytes: 40 * gibibyte, maxConnections: 4000 });
  });

  test("of sizes", () => {
    expect(machineOf("mysql-flex-512mb")).toEqual({ cpus: 1, memoryBytes: gibibyte / 2 });
    expect(machineOf("db-pro.m-4vcpu-16gb")).toEqual(machineOf("mysql-pro-16gb"));
    expect(machineOf("db.t4g.2xlarge")).toEqual({ cpus: 8, memoryBytes: 32 * gibibyte });
    expect(machineOf("db.m8g.large")).toEqual({ cpus: 2, memoryBytes: 8 * gibibyte });
    expect(machineOf("db.m8g.48xlarge")).toEqual({ cpus: 192, memoryBytes: 768 * gibibyte });
    expect(machineOf("db.m7g.16xlarge")).toEqual({ cpus: 64, memoryBytes: 256 * gibibyte });
    expect(machineOf("db.r8g.large")).toEqual({ cpus: 2, memoryBytes: 16 * gibibyte });
    expect(managedSizes).toHaveLength(6 + 9 + 7 + 9);
  });

  test("in connections, by the protocol", () => {
    const config = configVariants.provider_managed_mysql.complete({ size: "db.r8g.48xlarge" });
    expect(resourcesOf("provider_managed_mysql", config).maxConnections).toBe(16_000);
    expect(resourcesOf("provider_managed_postgres", config).maxConnections).toBe(5000);
    const small = configVariants.platform_mysql.complete({});
    expect(resourcesOf("platform_mysql", small).maxConnections).toBe(42);
  });
});

// Requests for a cache that are refused, with every failing field named at once.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cacheSizes, memoryBytesOf, sizesByType } from "../../src/resources/caches/sizes.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const create = async (json: unknown) => {
  const response = await api.request("/api/caches", { json });
  return { status: response.status, body: (await response.json()) as Answer };
};

interface Answer {
  message: string;
  errors?: Record<string, string[]>;
  data?: { attributes: Record<string, unknown> };
}

const redis = { ...validCache, type: "hosted_redis", size: "250mb" };

const refused: [what: string, body: unknown, fields: string[]][] = [
  ["nothing", {}, ["type", "name", "region", "size"]],
  ["all null", { type: null, name: null, region: null, size: null }, ["type", "name", "region", "size"]],
  ["an array", [], ["body"]],
  ["a string", "cache", ["body"]],
  ["null", null, ["body"]],
  ["a number", 1, ["body"]],
  ["an unknown type", { ...validCache, type: "memcached" }, ["type"]],
  ["a type that is a number", { ...validCache, type: 1 }, ["type"]],
  ["a type with other case", { ...validCache, type: "Platform_Valkey" }, ["type"]],
  ["an unknown type and an unknown size", { ...validCache, type: "x", size: "y" }, ["type", "size"]],
  ["a short name", { ...validCache, name: "a" }, ["name"]],
  ["an empty name", { ...validCache, name: "" }, ["name"]],
  ["a long name", { ...validCache, name: "a".repeat(41) }, ["name"]],
  ["capitals in the name", { ...validCache, name: "Sessions" }, ["name"]],
  ["a line break after the name", { ...validCache, name: "sessions\n" }, ["name"]],
  ["NUL in the name", { ...validCache, name: "ses\0sions" }, ["name"]],
  ["letters beyond ASCII", { ...validCache, name: "pöllö" }, ["name"]],
  ["a name that is a number", { ...validCache, name: 12345 }, ["name"]],
  ["an unknown region", { ...validCache, region: "eu-north-1" }, ["region"]],
  ["an unknown size", { ...validCache, size: "3gb" }, ["size"]],
  ["a bare size for Valkey", { ...validCache, size: "1gb" }, ["size"]],
  ["a Valkey size for Redis", { ...redis, size: "valkey-pro.1gb" }, ["size"]],
  ["a bare size for a managed type", { ...redis, type: "provider_managed_redis" }, ["size"]],
  ["a managed size for Redis", { ...redis, size: "managed.cache.t4g.micro" }, ["size"]],
  ["a string for a boolean", { ...validCache, is_public: "true" }, ["is_public"]],
  ["a number for a boolean", { ...validCache, auto_upgrade_enabled: 1 }, ["auto_upgrade_enabled"]],
  ["an object for a boolean", { ...validCache, uses_hibernation: {} }, ["uses_hibernation"]],
  ["a timeout of 0", { ...validCache, hibernation_timeout: 0 }, ["hibernation_timeout"]],
  ["a timeout of 61", { ...validCache, hibernation_timeout: 61 }, ["hibernation_timeout"]],
  ["a timeout with a fraction", { ...validCache, hibernation_timeout: 1.5 }, ["hibernation_timeout"]],
  ["a timeout as a string", { ...validCache, hibernation_timeout: "5" }, ["hibernation_timeout"]],
  ["a huge timeout", { ...validCache, hibernation_timeout: 1e300 }, ["hibernation_timeout"]],
  ["an unknown eviction policy", { ...validCache, eviction_policy: "random" }, ["eviction_policy"]],
  ["an eviction policy for Redis", { ...redis, eviction_policy: "noeviction" }, ["eviction_policy"]],
  ["a cluster that does not exist", { ...validCache, cluster_id: "dc-1" }, ["cluster_id"]],
  ["a cluster that is a number", { ...validCache, cluster_id: 7 }, ["cluster_id"]],
  [
    "faults within and between fields",
    {
      type: "hosted_redis",
      size: "valkey-pro.1gb",
      eviction_policy: "noeviction",
      name: "A",
      cluster_id: "x",
    },
    ["name", "region", "size", "eviction_policy", "cluster_id"],
  ],
];

describe("POST /caches refuses", () => {
  test.each(refused)("%s", async (_what, body, fields) => {
    const answer = await create(body);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors ?? {}).sort()).toEqual([...fields].sort());
    for (const sentences of Object.values(answer.body.errors ?? {})) {
      expect(sentences.length).toBeGreaterThan(0);
      for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
    }
    for (const field of fields) expect(answer.body.message).toContain(field);
  });

  test("a request without a body, naming the required fields", async () => {
    const response = await api.request("/api/caches", { method: "POST" });
    expect(response.status).toBe(422);
    expect(Object.keys(((await response.json()) as Answer).errors ?? {})).toEqual([
      "type",
      "name",
      "region",
      "size",
    ]);
  });

  test("a type without an installed engine", async () => {
    const other = await startApi();
    other.offer.engines.length = 0;
    const response = await other.request("/api/caches", { json: { ...validCache, name: "A" } });
    const { errors } = (await response.json()) as Answer;
    expect(response.status).toBe(422);
    expect(Object.keys(errors ?? {}).sort()).toEqual(["name", "type"]);
    expect(errors?.type?.[0]).toContain("valkey");
    expect(errors?.type?.[0]).toContain("pilvi engines install");
    await other.stop();
  });
});

describe("POST /caches accepts", () => {
  test("every size of every type", async () => {
    for (const [type, sizes] of Object.entries(sizesByType)) {
      for (const size of sizes) expect((await create({ ...validCache, type, size })).status).toBe(201);
    }
  });

  test("the smallest request, with defaults that depend on the type", async () => {
    const valkey = await create(validCache);
    expect(valkey.body.data?.attributes).toMatchObject({
      status: "creating",
      auto_upgrade_enabled: false,
      is_public: false,
      eviction_policy: "allkeys-lru",
      uses_hibernation: false,
      hibernation_timeout: 5,
    });
    expect((await create(redis)).body.data?.attributes.eviction_policy).toBe("noeviction");
  });

  test("every member, and returns it", async () => {
    const all = {
      ...validCache,
      auto_upgrade_enabled: true,
      is_public: true,
      eviction_policy: "volatile-ttl",
      uses_hibernation: true,
      hibernation_timeout: 60,
    };
    const { status, body } = await create(all);
    expect(status).toBe(201);
    expect(body.data?.attributes).toMatchObject(all);
    expect(body.data?.attributes.connection).toMatchObject({ hostname: "cloud.example", protocol: "redis" });
  });

  test("null for optional members, unknown members, and names of 2 and 40 characters", async () => {
    const nulls = { cluster_id: null, eviction_policy: null, hibernation_timeout: null, is_public: null };
    expect((await create({ ...validCache, ...nulls, color: "red", __proto__: 1 })).status).toBe(201);
    for (const name of ["ab", "a".repeat(40), "_-", "00"]) {
      expect((await create({ ...validCache, name })).status).toBe(201);
    }
  });
});

test("every cache size stands for an amount of memory", () => {
  for (const size of cacheSizes) expect(memoryBytesOf(size)).toBeGreaterThan(0);
  expect(memoryBytesOf("valkey-pro.2.5gb")).toBe(2.5 * 1024 ** 3);
  expect(memoryBytesOf("250mb")).toBe(250 * 1024 ** 2);
  expect(memoryBytesOf("managed.cache.c7gn.large")).toBe(Math.round(3.09 * 1024 ** 3));
  expect(memoryBytesOf("managed.cache.t4g.micro")).toBe(0.5 * 1024 ** 3);
});

describe("an unknown size", () => {
  test.each([
    [{ size: "valkey-flex-250" }, "did you mean valkey-flex-250mb"],
    [{ size: "nothing-like-it" }, "has an unknown value; pilvi caches types lists all."],
    [
      { type: "hosted_redis", size: "valkey-pro.1gb" },
      "does not belong to the type hosted_redis; did you mean 1gb",
    ],
  ])(
    "of %p is answered with those that were meant and the command that lists all",
    async (attributes, said) => {
      const { status, body } = await create({ ...validCache, ...attributes });
      expect(status).toBe(422);
      expect(body.errors?.size).toEqual([expect.stringContaining(said)]);
      expect(body.errors?.size?.[0]).toEndWith("pilvi caches types lists all.");
    },
  );

  test("of a cluster is answered by the name of the member", async () => {
    const json = { ...validDatabase, type: "platform_mysql", config: { size: "mysql-flex-512" } };
    const response = await api.request("/api/databases/clusters", { json });
    const { errors } = (await response.json()) as Answer;
    expect(errors).toEqual({
      "config.size": [
        "The field config.size has an unknown value; did you mean mysql-flex-512mb or mysql-flex-1gb or mysql-flex-2gb? pilvi databases types lists all.",
      ],
    });
  });
});

// Quotas of organizations and tokens: excess is refused, deletion returns what a resource took, and the sums never
// drift.
import { afterEach, describe, expect, test } from "bun:test";
import type { TokenLimits } from "../../src/api/auth/tokens.ts";
import type { Quotas } from "../../src/lib/quota-settings.ts";
import type { InstanceKind } from "../../src/resources/shared/instance-kinds.ts";
import { eraseRow } from "../../src/resources/shared/rows.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";
import { ask } from "../support/api/resources-api.ts";

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

interface Amount {
  limit: number | null;
  used: number;
}

interface Organization {
  data: {
    id: string;
    type: string;
    attributes: object;
    meta: { quotas: Record<string, Amount>; notices: string[]; token: { quotas: Record<string, Amount> } };
  };
}

let api: TestApi;
afterEach(async () => {
  await expectTrueSums();
  await api.stop();
});

const start = async (quotas: Partial<Quotas>) => void (api = await startApi({ quotas }));
const KINDS = {
  caches: { path: "/api/caches", body: validCache },
  databases: { path: "/api/databases/clusters", body: validDatabase },
  websockets: { path: "/api/websocket-servers", body: validServer },
} as const;

const create = (kind: InstanceKind, change: object = {}, init: { token?: string; headers?: object } = {}) =>
  ask(api, KINDS[kind].path, { json: { ...KINDS[kind].body, ...change }, ...init } as never);
const change = (kind: InstanceKind, id: string, json: object, token = api.token) =>
  ask(api, `${KINDS[kind].path}/${id}`, { method: "PATCH", json, token });
const erase = (kind: InstanceKind, id: string) => api.db.begin((tx) => eraseRow(tx, kind, id));

const limited = (limits: TokenLimits) => api.newToken(["*"], "default", limits);

const organization = async (token = api.token) => {
  const response = await api.request("/api/meta/organization", { token });
  expect(response.status).toBe(200);
  return ((await response.json()) as Organization).data;
};
const used = async (token = api.token) => {
  const { quotas } = (await organization(token)).meta;
  return Object.fromEntries(Object.entries(quotas).map(([name, amount]) => [name, amount.used]));
};

/** The sums must equal a count of all rows. */
async function expectTrueSums(): Promise<void> {
  const counted = await api.db`
    select o.owner, count(*)::int as resources, sum(memory_bytes)::float8 as memory,
           sum(connections)::int as connections, sum(storage_bytes)::float8 as storage
    from allocations cross join lateral (values (organization_id), (token_id)) as o (owner)
    where o.owner is not null group by o.owner order by o.owner`;
  const kept = await api.db`
    select owner, (caches + databases + websockets)::int as resources, memory_bytes::float8 as memory,
           connections::int as connections, storage_bytes::float8 as storage
    from quota_usage where caches + databases + websockets <> 0 order by owner`;
  expect(JSON.stringify(kept)).toBe(JSON.stringify(counted));
  const [resources] = await api.db<{ count: number }[]>`
    select ((select count(*) from caches) + (select count(*) from databases)
      + (select count(*) from websocket_servers))::int as count`;
  const [allocations] = await api.db<{ count: number }[]>`select count(*)::int as count from allocations`;
  expect(allocations?.count).toBe(resources?.count ?? -1);
}

describe("an organization", () => {
  test("at its limit of resources gets no more of any kind, until a deleted resource is wholly gone", async () => {
    await start({ resources: 3 });
    const made = [await create("caches"), await create("databases"), await create("websockets")];
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    for (const kind of ["caches", "databases", "websockets"] as const) {
      const { status, body } = await create(kind);
      expect(status).toBe(422);
      expect(body.errors).toEqual({
        type: [
          "The organization may have 3 resources and has 3. Delete something, or have the operator raise PILVI_QUOTA_RESOURCES.",
        ],
      });
    }
    const { id } = made[0]?.body.data ?? { id: "" };
    expect((await api.request(`/api/caches/${id}`, { method: "DELETE" })).status).toBe(204);
    // The engine, the data and the port of the resource still exist.
    expect((await create("caches")).status).toBe(422);
    await erase("caches", id);
    expect((await create("caches")).status).toBe(201);
  });

  test.each(["caches", "databases", "websockets"] as const)(
    "at its limit of %s gets other kinds",
    async (kind) => {
      await start({ [kind]: 1 });
      expect((await create(kind)).status).toBe(201);
      expect((await create(kind)).body.errors).toHaveProperty("type");
      const other = kind === "caches" ? "databases" : "caches";
      expect((await create(other)).status).toBe(201);
    },
  );

  test("at its limit of memory gets a size that still fits, and reads which field asks for too much", async () => {
    await start({ memoryBytes: 1.5 * GIBIBYTE });
    expect((await create("caches", { size: "valkey-flex-1gb" })).status).toBe(201);
    expect((await create("caches", { size: "valkey-flex-1gb" })).body.errors).toEqual({
      size: [
        "The organization may have 1.5gb of memory and has 1gb, and this takes 1gb more. Delete something, or have the operator raise PILVI_QUOTA_MEMORY.",
      ],
    });
    const mysql = { type: "platform_mysql", config: { size: "mysql-flex-1gb" } };
    expect((await create("databases", mysql)).body.errors).toHaveProperty(["config.size"]);
    const postgres = { config: { cu_min: 0.25, cu_max: 0.25 } };
    expect((await create("databases", postgres)).body.errors).toHaveProperty(["config.cu_max"]);
    expect((await create("caches")).status).toBe(201);
    expect((await create("websockets")).status).toBe(201);
  });

  test("at its limit of connections gets no larger cluster", async () => {
    await start({ connections: 300 });
    expect((await create("websockets", { max_connections: 200 })).status).toBe(201);
    expect((await create("websockets", { max_connections: 200 })).body.errors).toHaveProperty(
      "max_connections",
    );
    const large = { config: { cu_max: 10 } };
    expect((await create("databases", large)).body.errors).toHaveProperty(["config.cu_max"]);
    expect((await create("websockets", { max_connections: 100 })).status).toBe(201);
  });

  test("above its limit of storage gets no new resource, and may change an existing resource", async () => {
    await start({ storageBytes: GIBIBYTE });
    const { body } = await create("caches");
    await api.db`update allocations set storage_bytes = ${GIBIBYTE} where resource_id = ${body.data.id}`;
    expect((await create("caches")).status).toBe(201);
    await api.db`update allocations set storage_bytes = ${2 * GIBIBYTE} where resource_id = ${body.data.id}`;
    const { errors } = (await create("caches")).body;
    expect(errors?.type?.[0]).toStartWith("The organization may have 1gb of storage and has 2gb.");
    expect((await change("caches", body.data.id, { size: "valkey-flex-1gb" })).status).toBe(200);
    const { quotas, notices } = (await organization()).meta;
    expect(quotas.storage_bytes).toEqual({ limit: GIBIBYTE, used: 2 * GIBIBYTE });
    expect(notices).toEqual([
      "The organization may have 1gb of storage and has 2gb. Delete something, or have the operator raise PILVI_QUOTA_STORAGE. Until then nothing is made that takes more of it.",
    ]);
  });

  test("gets exactly as many concurrent creates as still fit", async () => {
    await start({ resources: 7 });
    const kinds = ["caches", "databases", "websockets"] as const;
    const creates = Array.from({ length: 30 }, (_, index) => create(kinds[index % 3] ?? "caches"));
    const statuses = (await Promise.all(creates)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(7);
    expect(statuses.filter((status) => status === 422)).toHaveLength(23);
    expect((await used()).resources).toBe(7);
  });

  test("keeps no part of a refused create, and reads the same answer to a repeated create", async () => {
    await start({ resources: 1 });
    const headers = { "Idempotency-Key": "once" };
    const first = await create("caches", {}, { headers });
    expect(first.status).toBe(201);
    expect((await create("caches", {}, { headers })).body.data.id).toBe(first.body.data.id);
    const refused = { "Idempotency-Key": "refused" };
    expect((await create("caches", {}, { headers: refused })).status).toBe(422);
    const [left] = await api.db`
      select (select count(*) from instances)::int as ports, (select count(*) from work)::int as work,
             (select count(*) from audit)::int as audit`;
    expect(left).toEqual({ ports: 1, work: 1, audit: 1 });
    await erase("caches", first.body.data.id);
    expect((await create("caches", {}, { headers: refused })).status).toBe(201);
  });
});

describe("a change", () => {
  test("of a size is held to the limit, and returns the rest", async () => {
    await start({ memoryBytes: 3 * GIBIBYTE });
    const { data } = (await create("caches", { size: "valkey-flex-1gb" })).body;
    await create("caches", { size: "valkey-flex-1gb" });
    expect((await change("caches", data.id, { size: "valkey-flex-2.5gb" })).body.errors).toEqual({
      size: [
        "The organization may have 3gb of memory and has 2gb, and this takes 1.5gb more. Delete something, or have the operator raise PILVI_QUOTA_MEMORY.",
      ],
    });
    const { body } = await ask(api, `/api/caches/${data.id}`);
    expect(body.data.attributes).toMatchObject({ size: "valkey-flex-1gb", status: "creating" });
    expect((await change("caches", data.id, { size: "valkey-flex-250mb" })).status).toBe(200);
    expect((await used()).memory_bytes).toBe(GIBIBYTE + 250 * MEBIBYTE);
    expect((await change("caches", data.id, { name: "renamed" })).status).toBe(200);
  });

  test("of a cluster is held to memory and connections", async () => {
    await start({ memoryBytes: 4 * GIBIBYTE, connections: 500 });
    const database = (await create("databases")).body.data.id;
    const larger = await change("databases", database, { config: { cu_max: 2 } });
    expect(larger.status).toBe(422);
    expect(larger.body.errors?.["config.cu_max"]).toHaveLength(2);
    expect((await change("databases", database, { config: { cu_max: 1 } })).status).toBe(200);
    expect(await used()).toMatchObject({ memory_bytes: 4 * GIBIBYTE, connections: 419 });
    expect((await create("websockets")).body.errors).toHaveProperty("max_connections");
  });

  test("to a smaller size works even above a lowered limit", async () => {
    await start({});
    const { data } = (await create("caches", { size: "valkey-flex-2.5gb" })).body;
    api.context.quotas.memoryBytes = GIBIBYTE;
    expect((await change("caches", data.id, { size: "valkey-flex-1gb" })).status).toBe(200);
    expect((await change("caches", data.id, { size: "valkey-flex-2.5gb" })).status).toBe(422);
  });
});

describe("a token's own limits", () => {
  test("count its own resources, and no resource of another token", async () => {
    await start({});
    await create("caches");
    const token = await limited({ resources: 1 });
    expect((await create("caches", {}, { token })).status).toBe(201);
    const { status, body } = await create("websockets", {}, { token });
    expect(status).toBe(422);
    expect(body.errors).toEqual({
      type: [
        "The token may have 1 resources and has 1. Delete something, or use a token that was made with a larger --max-resources.",
      ],
    });
    expect((await create("caches")).status).toBe(201);
    expect((await organization(token)).meta.token.quotas.resources).toEqual({ limit: 1, used: 1 });
  });

  test("hold memory, storage and connections", async () => {
    await start({});
    const token = await limited({ memoryBytes: GIBIBYTE, connections: 100, storageBytes: 1 });
    expect((await create("caches", { size: "valkey-flex-2.5gb" }, { token })).body.errors).toHaveProperty(
      "size",
    );
    expect((await create("websockets", { max_connections: 200 }, { token })).body.errors).toHaveProperty(
      "max_connections",
    );
    const { data } = (await create("caches", {}, { token })).body;
    await api.db`update allocations set storage_bytes = 2 where resource_id = ${data.id}`;
    expect((await create("caches", {}, { token })).body.errors?.type?.[0]).toContain("--max-storage");
  });

  test("cannot be exceeded by means of another token's resource", async () => {
    await start({});
    const { data } = (await create("caches")).body;
    const token = await limited({ memoryBytes: GIBIBYTE });
    expect((await change("caches", data.id, { size: "valkey-flex-2.5gb" }, token)).status).toBe(422);
    expect((await change("caches", data.id, { size: "valkey-flex-1gb" }, token)).status).toBe(200);
    expect((await organization(token)).meta.token.quotas).toMatchObject({
      resources: { used: 1 },
      memory_bytes: { limit: GIBIBYTE, used: GIBIBYTE },
    });
    expect((await create("caches", {}, { token })).status).toBe(422);
    expect((await change("caches", data.id, { size: "valkey-flex-2.5gb" })).status).toBe(200);
    expect((await create("caches", {}, { token })).status).toBe(201);
  });

  test("admit exactly as many concurrent creates as still fit", async () => {
    await start({});
    const token = await limited({ resources: 3 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => create("caches", {}, { token })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  });
});

describe("the organization in an answer", () => {
  test("is shown to every valid token, with its limits and its use", async () => {
    await start({ resources: 5, memoryBytes: GIBIBYTE });
    await create("caches");
    await create("websockets");
    const reader = await api.newToken(["metrics:read"]);
    const response = await api.request("/api/meta/organization", { token: reader });
    expect(response.headers.get("content-type")).toBe("application/vnd.api+json");
    const { data } = (await response.json()) as Organization;
    expect(data).toMatchObject({
      id: expect.stringMatching(/^org-/),
      type: "organizations",
      attributes: { name: "default", slug: "default" },
    });
    expect(data.meta.quotas).toEqual({
      resources: { limit: 5, used: 2 },
      caches: { limit: null, used: 1 },
      databases: { limit: null, used: 0 },
      websockets: { limit: null, used: 1 },
      applications: { limit: null, used: 0 },
      memory_bytes: { limit: GIBIBYTE, used: 250 * MEBIBYTE },
      storage_bytes: { limit: null, used: 0 },
      connections: { limit: null, used: 100 },
      ports: { limit: null, used: 2 },
    });
    expect(data.meta.notices).toEqual([]);
    expect(data.meta.token.quotas.resources).toEqual({ limit: null, used: 0 });
    expect((await api.request("/api/meta/organization", { token: null })).status).toBe(401);
  });

  test("has quotas of its own", async () => {
    await start({ resources: 1 });
    const token = await api.newToken(["*"], "The Other One!");
    expect((await create("caches")).status).toBe(201);
    expect((await create("caches", {}, { token })).status).toBe(201);
    expect((await create("caches", {}, { token })).status).toBe(422);
    expect((await used(token)).resources).toBe(1);
    expect((await organization(token)).attributes).toEqual({ name: "The Other One!", slug: "the-other-one" });
  });
});

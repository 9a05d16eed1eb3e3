// Changes of caches and database clusters.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Outcome } from "../../src/reconciler/loop.ts";
import { claim, complete, type Job } from "../../src/reconciler/queue.ts";
import { reconcileDatabaseCluster } from "../../src/resources/databases/reconciler.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";
import { bodyValidatorOf, documentOf, expectDocumented } from "../support/api/openapi.ts";
import {
  ask,
  audited,
  becomes,
  hasWork,
  make,
  observed,
  SLEEPERS,
  type Sleeper,
} from "../support/api/resources-api.ts";

const [CACHES, DATABASES] = SLEEPERS;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** An available resource without an open work item. */
async function available(sleeper: Sleeper, json: object) {
  const made = await make(api, sleeper, json);
  await becomes(api, sleeper.kind, made.id, "available");
  return made;
}

const patch = (sleeper: Sleeper, id: string, json: object, token = api.token) =>
  ask(api, `${sleeper.path}/${id}`, { method: "PATCH", json, token });

describe("PATCH /caches/:id", () => {
  test("changes the named members, and makes the cache updating until they are in force", async () => {
    const { id, attributes } = await available(CACHES, validCache);
    const change = {
      size: "valkey-flex-1gb",
      eviction_policy: "noeviction",
      is_public: true,
      uses_hibernation: true,
      hibernation_timeout: 9,
    };
    const { status, body } = await patch(CACHES, id, change);
    expect(status).toBe(200);
    const { connection, ...rest } = attributes;
    expect(body.data.attributes).toMatchObject({ ...rest, ...change, status: "updating" });
    expect(body.data.attributes.connection).toMatchObject({
      hostname: "cloud.example",
      port: connection.port,
    });
    expect(await hasWork(api, id)).toBe(true);
    const waiting = ask(api, `/api/caches/${id}?wait=available`);
    await becomes(api, "caches", id, "available");
    expect((await waiting).body.data.attributes).toMatchObject({ ...change, status: "available" });
    expect(await audited(api, id)).toMatchObject([
      { action: "create" },
      { action: "update", details: change },
    ]);
  });

  test.each([
    ["a name", { name: "other" }],
    ["growth, on which nothing acts", { auto_upgrade_enabled: true }],
    ["a timeout that is not heeded", { hibernation_timeout: 7 }],
    ["what is so already", { size: "valkey-flex-250mb", uses_hibernation: false }],
    ["nothing", {}],
    ["null", { name: null, uses_hibernation: null }],
    ["type and region, which are for life", { type: "hosted_redis", region: "us-east-1" }],
  ])("%s is nobody's work", async (_what, change) => {
    const { id } = await available(CACHES, validCache);
    const { status, body } = await patch(CACHES, id, change);
    expect(status).toBe(200);
    const kept = { type: validCache.type, region: validCache.region };
    const changed = Object.entries({ ...change, ...kept }).filter(([, value]) => value !== null);
    expect(body.data.attributes).toMatchObject({ ...Object.fromEntries(changed), status: "available" });
    expect(await hasWork(api, id)).toBe(false);
  });

  test("reports all errors at once, including those that depend on the type", async () => {
    const { id } = await available(CACHES, { ...validCache, type: "hosted_redis", size: "250mb" });
    const { status, body } = await patch(CACHES, id, {
      name: "N",
      size: "valkey-flex-1gb",
      eviction_policy: "allkeys-lru",
      hibernation_timeout: 61,
    });
    expect(status).toBe(422);
    expect(Object.keys(body.errors ?? {}).sort()).toEqual([
      "eviction_policy",
      "hibernation_timeout",
      "name",
      "size",
    ]);
    expect(await audited(api, id)).toHaveLength(1);
  });
});

describe.each(["/api/databases/clusters", "/api/databases"])("PATCH %s/:id", (path) => {
  const patchConfig = (id: string, config: unknown) =>
    ask(api, `${path}/${id}`, { method: "PATCH", json: { config } });

  test("changes the named members of the config, and keeps all others", async () => {
    const config = { cu_min: 0.5, cu_max: 1, retention_days: 3 };
    const { id } = await available(DATABASES, { ...validDatabase, config });
    const { status, body } = await patchConfig(id, { cu_max: 2, size: "of other types", other: 1 });
    expect(status).toBe(200);
    const changed = { cu_min: 0.5, cu_max: 2, suspend_seconds: 300, retention_days: 3 };
    expect(body.data.attributes).toMatchObject({ status: "updating" });
    expect(body.data.attributes.config).toEqual(changed);
    expect(await hasWork(api, id)).toBe(true);
    expect(await audited(api, id)).toMatchObject([{}, { action: "update", details: { config: changed } }]);
  });

  test("of members that the engine does not get enqueues no work item", async () => {
    const { id } = await available(DATABASES, validDatabase);
    for (const config of [{}, { suspend_seconds: 300 }, { cu_max: null }]) {
      const { status, body } = await patchConfig(id, config);
      expect({ status, now: body.data.attributes.status }).toEqual({ status: 200, now: "available" });
    }
    expect(await hasWork(api, id)).toBe(false);
  });

  test("of the idle time enqueues a work item for the driver", async () => {
    const { id } = await available(DATABASES, validDatabase);
    const { body } = await patchConfig(id, { suspend_seconds: 1 });
    expect(body.data.attributes).toMatchObject({ status: "updating", config: { suspend_seconds: 1 } });
    expect(await hasWork(api, id)).toBe(true);
  });

  test("with null removes an optional member", async () => {
    const config = { maintenance_window: "sun:06:00-sun:06:30", storage: 9 };
    const { id } = await available(DATABASES, { ...validDatabase, type: "platform_mysql", config });
    const { body } = await patchConfig(id, { maintenance_window: null, storage: null });
    expect(body.data.attributes.config).toMatchObject({ maintenance_window: null, storage: 9 });
  });

  test.each([
    [{ cu_min: 2 }, ["config.cu_min"]],
    [{ cu_max: 3, suspend_seconds: -1 }, ["config.cu_max", "config.suspend_seconds"]],
    [[], ["config"]],
    [null, ["config"]],
    [undefined, ["config"]],
  ])("refuses %j", async (config, fields) => {
    const { id } = await available(DATABASES, validDatabase);
    const { status, body } = await patchConfig(id, config);
    expect(status).toBe(422);
    expect(Object.keys(body.errors ?? {})).toEqual(fields);
    expect(await audited(api, id)).toHaveLength(1);
  });

  test("refuses a size that contradicts the config in force", async () => {
    const config = { suspend_seconds: 60 };
    const { id } = await available(DATABASES, { ...validDatabase, type: "platform_mysql", config });
    const refused = await patchConfig(id, { size: "mysql-pro-4gb" });
    expect(Object.keys(refused.body.errors ?? {})).toEqual(["config.suspend_seconds"]);
    expect((await patchConfig(id, { size: "mysql-pro-4gb", suspend_seconds: 0 })).status).toBe(200);
  });

  test("with two changes at the same time puts both in force", async () => {
    const { id } = await available(DATABASES, { ...validDatabase, type: "platform_mysql" });
    await Promise.all([patchConfig(id, { storage: 9 }), patchConfig(id, { size: "mysql-flex-1gb" })]);
    const { body } = await ask(api, `${path}/${id}`);
    expect(body.data.attributes.config).toMatchObject({ storage: 9, size: "mysql-flex-1gb" });
  });
});

describe.each(SLEEPERS)("a change of $kind", (sleeper) => {
  const change = sleeper.kind === "caches" ? { size: "valkey-flex-1gb" } : { config: { cu_max: 2 } };

  test("is refused for a resource that is being deleted, of another organization, or unknown", async () => {
    const { id } = await available(sleeper, sleeper.body);
    const other = await api.newToken(["*"], "others");
    expect((await patch(sleeper, id, change, other)).status).toBe(404);
    expect((await patch(sleeper, id.replace(/.$/, "x"), change)).status).toBe(404);
    const reader = await api.newToken([`${sleeper.kind}:read`]);
    expect((await patch(sleeper, id, change, reader)).status).toBe(403);
    await api.request(`${sleeper.path}/${id}`, { method: "DELETE" });
    const { status, body } = await patch(sleeper, id, change);
    expect(status).toBe(409);
    expect(body.message).toEndWith("is being deleted.");
  });

  test("keeps the status of a resource that is still being created", async () => {
    const { id } = await make(api, sleeper, sleeper.body);
    expect((await patch(sleeper, id, change)).body.data.attributes.status).toBe("creating");
  });

  test("is documented in its requests and its answers", async () => {
    const document = await documentOf(api);
    const documented = `${sleeper.path.replace("/api", "")}/{id}`;
    const { id } = await available(sleeper, sleeper.body);
    const bodies: [json: object, status: number][] = [
      [change, 200],
      [{ size: 1, config: 1 }, 422],
      [{ hibernation_timeout: 0, config: null }, 422],
    ];
    for (const [json, status] of bodies) {
      const response = await api.request(`${sleeper.path}/${id}`, { method: "PATCH", json });
      expect(response.status).toBe(status);
      await expectDocumented(document, documented, "patch", response);
      const isTaken = bodyValidatorOf(document, documented, "patch").safeParse(json).success;
      expect({ json, isTaken }).toEqual({ json, isTaken: status === 200 });
    }
  });
});

const statusOf = async (id: string) =>
  (await ask(api, `${DATABASES.path}/${id}`)).body.data.attributes.status;

describe("a cluster with a database that cannot be made", () => {
  const OWNER = 1;

  /** Begins a run as the loop does, and has it find out all that it will. */
  async function begun(id: string): Promise<{ job: Job; outcome: Outcome }> {
    await api.db`update work set run_at = now() where kind = 'databases' and id = ${id}`;
    const work = { hostIds: [api.host.id], kinds: { among: ["databases"] } };
    const job = (await claim(api.db, OWNER, work, 100)).find((each) => each.id === id);
    if (job === undefined) throw new Error(`the work of ${id} is not due`);
    return { job, outcome: await reconcileDatabaseCluster(api.context)(id, new AbortController().signal) };
  }

  const end = ({ job, outcome: { result, write } }: { job: Job; outcome: Outcome }) =>
    api.db.begin(async (tx) => {
      expect(await complete(tx, OWNER, job, result)).toBe("given");
      await write?.(tx);
    });

  test("stays updating when it is changed during a run that does not know of the change", async () => {
    const { id } = await available(DATABASES, validDatabase);
    const seen = observed(id, "asleep", null, { pendingDatabases: ["busy"] });
    Object.assign(api.host.driver, { observe: async () => seen, ensure: async () => seen });
    await ask(api, `${DATABASES.path}/${id}/databases`, { json: { name: "busy" } });
    await end(await begun(id));
    expect(await statusOf(id)).toBe("available");
    const early = await begun(id);
    await ask(api, `${DATABASES.path}/${id}/rotate-credentials`, { json: {} });
    await end(early);
    expect(await statusOf(id)).toBe("updating");
    await end(await begun(id));
    expect(await statusOf(id)).toBe("available");
  });
});

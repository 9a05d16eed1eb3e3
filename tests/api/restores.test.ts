// Restores and clones of database clusters and caches: requests, refusals, progress, and how they end.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Driver } from "../../src/drivers/driver.ts";
import { reconcileDatabaseCluster } from "../../src/resources/databases/reconciler.ts";
import { findMask, markMasked } from "../../src/resources/databases/masks/store.ts";
import { specOf } from "../../src/resources/databases/spec.ts";
import { eraseDatabaseCluster, loadDatabaseCluster } from "../../src/resources/databases/store.ts";
import type { TestApi } from "../support/api/api.ts";
import { startArchivingApi, type ArchivingApi } from "../support/api/archives.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";
import { becomes, make, observed, SLEEPERS } from "../support/api/resources-api.ts";

interface Answer {
  data: {
    id: string;
    attributes: {
      name: string;
      status: string;
      config: object;
      connection: { port: number; password: string };
    };
    meta: { origin: object | null; restore: object | null; last_error: string | null };
  };
  included?: { attributes: { name: string } }[];
  errors?: Record<string, string[]>;
}

const [CACHES, DATABASES] = SLEEPERS;

let api: ArchivingApi;
beforeAll(async () => {
  api = await startArchivingApi();
});
afterAll(() => api.stop());

async function send(path: string, init: Parameters<TestApi["request"]>[1] = {}) {
  const response = await api.request(path, init);
  return { status: response.status, body: (await response.json()) as Answer };
}

/** An instance with an available snapshot. */
async function saved(
  sleeper: (typeof SLEEPERS)[number],
): Promise<{ id: string; snapshot: string; path: string }> {
  const { id } = await make(api, sleeper, sleeper.body);
  await becomes(api, sleeper.kind, id, "available");
  const path = `${sleeper.path}/${id}`;
  const { body } = await send(`${path}/snapshots`, { json: { name: "before" } });
  const snapshots = sleeper.kind === "caches" ? "/api/cache-snapshots" : "/api/database-snapshots";
  await send(`${snapshots}/${body.data.id}?wait=available`);
  return { id, snapshot: body.data.id, path };
}

describe("a restore of a database cluster", () => {
  test("is a new cluster with a port, a password and databases of its own, and no schedule", async () => {
    const { id, snapshot, path } = await saved(DATABASES);
    const json = { name: "restored", database_snapshot_id: snapshot, restore_time: null };
    const { status, body } = await send(`${path}/restore`, { json });
    expect([status, body.data.attributes.name, body.data.attributes.status]).toEqual([
      201,
      "restored",
      "restoring",
    ]);
    expect(body.included?.map(({ attributes }) => attributes.name)).toEqual(["main", "reports"]);
    expect(body.data.attributes.config).toMatchObject({ retention_days: 0 });
    expect(body.data.meta.origin).toEqual({ source: id, snapshot, restore_time: null });
    const source = (await send(path)).body.data.attributes.connection;
    expect(body.data.attributes.connection.port).not.toBe(source.port);
    expect(body.data.attributes.connection.password).not.toBe(source.password);
  });

  test("answers at the other spelling of its path", async () => {
    const { snapshot, path } = await saved(DATABASES);
    const document = await documentOf(api);
    for (const verb of ["restore", "restores"]) {
      const response = await api.request(`${path}/${verb}`, {
        json: { name: "restored", database_snapshot_id: snapshot },
      });
      expect(response.status).toBe(201);
      await expectDocumented(document, `/databases/clusters/{id}/${verb}`, "post", response);
    }
  });

  test("of an instant keeps its microseconds", async () => {
    const { id, path } = await saved(DATABASES);
    const at = new Date(Date.now()).toISOString().replace("Z", "123Z");
    const { body } = await send(`${path}/restore`, { json: { name: "restored", restore_time: at } });
    expect(body.data.meta.origin).toEqual({ source: id, snapshot: null, restore_time: at });
  });

  const refusals: [what: string, body: object, fields: string[]][] = [
    ["neither an instant nor a snapshot", {}, ["restore_time"]],
    [
      "both",
      { restore_time: "2026-03-15T08:00:00Z", database_snapshot_id: "x" },
      ["restore_time", "database_snapshot_id"],
    ],
    ["an instant of the future", { restore_time: "2999-03-15T08:00:00Z" }, ["restore_time"]],
    ["an instant before the first backup", { restore_time: "2020-03-15T08:00:00Z" }, ["restore_time"]],
    ["an instant without an offset", { restore_time: "2026-03-15T08:00:00" }, ["restore_time"]],
    ["an unknown snapshot", { database_snapshot_id: "snapshot-1" }, ["database_snapshot_id"]],
    ["a name that is not allowed", { name: "X", restore_time: "2026-03-15T08:00:00Z" }, ["name"]],
  ];

  test.each(refusals)("with %s is refused", async (_what, json, fields) => {
    const { path } = await saved(DATABASES);
    const { status, body } = await send(`${path}/restore`, { json: { name: "restored", ...json } });
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, fields]);
  });

  test("with a text that is no instant says what an instant looks like", async () => {
    const { path } = await saved(DATABASES);
    const { body } = await send(`${path}/restore`, { json: { name: "restored", restore_time: "yesterday" } });
    expect(body.errors?.restore_time).toContain(
      "The field restore_time must be a time such as 2026-03-15T08:00:00Z.",
    );
  });

  test("of a snapshot of another cluster is refused", async () => {
    const { snapshot } = await saved(DATABASES);
    const { path } = await saved(DATABASES);
    const { body } = await send(`${path}/restore`, {
      json: { name: "restored", database_snapshot_id: snapshot },
    });
    expect(body.errors).toEqual({ database_snapshot_id: ["There is no such snapshot of this cluster."] });
  });

  test("of another organization's cluster answers 404, and needs the ability to write", async () => {
    const { snapshot, path } = await saved(DATABASES);
    const json = { name: "restored", database_snapshot_id: snapshot };
    const stranger = await api.newToken(["*"], "elsewhere");
    expect((await send(`${path}/restore`, { json, token: stranger })).status).toBe(404);
    const reader = await api.newToken(["databases:read"]);
    expect((await send(`${path}/restore`, { json, token: reader })).status).toBe(403);
  });

  test("keeps its snapshot from being deleted while it reads it", async () => {
    const { snapshot, path } = await saved(DATABASES);
    const { body } = await send(`${path}/restore`, {
      json: { name: "restored", database_snapshot_id: snapshot },
    });
    const refused = await send(`/api/database-snapshots/${snapshot}`, { method: "DELETE" });
    expect(refused.body.errors?.["id"]?.[0]).toContain("A restore reads from this snapshot.");
    await becomes(api, "databases", body.data.id, "available");
    const { status } = await api.request(`/api/database-snapshots/${snapshot}`, { method: "DELETE" });
    expect(status).toBe(204);
  });
});

/** Runs the reconciler once, with an answer of the driver. */
async function run(id: string, answer: Awaited<ReturnType<Driver["ensure"]>>): Promise<void> {
  const ensure = api.host.driver.ensure;
  api.host.driver.ensure = async () => answer;
  const { write } = await reconcileDatabaseCluster(api.context)(id, new AbortController().signal);
  await api.db.begin(async (tx) => await write?.(tx));
  api.host.driver.ensure = ensure;
}

async function restoring(): Promise<string> {
  const { snapshot, path } = await saved(DATABASES);
  const { body } = await send(`${path}/restore`, {
    json: { name: "restored", database_snapshot_id: snapshot },
  });
  return body.data.id;
}

describe("a restore under way", () => {
  test("shows its bytes and an estimate", async () => {
    const id = await restoring();
    const restoringBytes = { doneBytes: 50, totalBytes: 100 };
    api.host.observedStates.note(observed(id, "starting", null, { restoring: restoringBytes }));
    const { meta } = (await send(`${DATABASES.path}/${id}`)).body.data;
    expect(meta.restore).toEqual({ done_bytes: 50, total_bytes: 100, estimate_seconds: expect.any(Number) });
  });

  test("that fails keeps its reason, with an event, and is not tried again", async () => {
    const id = await restoring();
    const lastError = "A part of the backup is damaged.";
    await run(id, observed(id, "failed", null, { restoreFailed: true, lastError }));
    const { attributes, meta } = (await send(`${DATABASES.path}/${id}`)).body.data;
    expect([attributes.status, meta.last_error]).toEqual(["restore_failed", lastError]);
    const events = (await send(`/api/events?filter[resource]=${id}&filter[type]=restore_failed`)).body;
    expect(events.data).toMatchObject([{ attributes: { details: { reason: lastError } } }]);
    expect(await reconcileDatabaseCluster(api.context)(id, new AbortController().signal)).toEqual({
      result: { settled: true },
    });
  });

  test("names its origin and its engine in the spec for the driver", async () => {
    const id = await restoring();
    const row = await loadDatabaseCluster(api.db, id);
    expect(row?.origin).toMatchObject({ from: { backup: expect.any(String) }, engine: "postgres" });
  });
});

/** Orders a clone of a new cluster. */
async function cloned(json: object) {
  const { id } = await make(api, DATABASES, DATABASES.body);
  await becomes(api, "databases", id, "available");
  return await send(`${DATABASES.path}/${id}/clone`, { json: { name: "clone", ...json } });
}

describe("the mask of a clone", () => {
  const sql = "update people set email = null";

  test("is sealed in the store, stands in no activity, and is gone with the clone", async () => {
    const { status, body } = await cloned({ mask: { sql } });
    expect(status).toBe(201);
    const { id } = body.data;
    const row = await loadDatabaseCluster(api.db, id);
    expect(row?.origin).toMatchObject({ isMaskPending: true });
    expect(await findMask(api.db, id, api.context.vault)).toEqual({ sql, database: null });
    const [{ sealed } = { sealed: "" }] = await api.db<
      { sealed: string }[]
    >`select sealed from masks where database_id = ${id}`;
    expect(sealed).not.toContain("update");
    const audit = await api.db`select details from audit where resource_id = ${id}`;
    expect(JSON.stringify(audit)).not.toContain("people");
    await api.db.begin(async (tx) => await eraseDatabaseCluster(tx, id));
    expect(await findMask(api.db, id, api.context.vault)).toBeUndefined();
  });

  test("gives the clone another password in the spec until its data is masked", async () => {
    const { body } = await cloned({ mask: { sql } });
    const row = await loadDatabaseCluster(api.db, body.data.id);
    if (row === null) throw new Error("the clone has no row");
    const pending = specOf(row, api.context).users;
    await api.db.begin(async (tx) => await markMasked(tx, row.id));
    const masked = await loadDatabaseCluster(api.db, row.id);
    expect(specOf(masked ?? row, api.context).users).not.toEqual(pending);
    expect(await findMask(api.db, row.id, api.context.vault)).toEqual({ sql, database: null });
  });

  test.each([
    ["without SQL", {}, "mask.sql"],
    ["with empty SQL", { sql: "" }, "mask.sql"],
    ["with more SQL than allowed", { sql: "x".repeat(100_001) }, "mask.sql"],
    ["with a database that is no text", { sql, database: 1 }, "mask.database"],
  ])("%s is refused", async (_what, mask, field) => {
    const { status, body } = await cloned({ mask });
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, [field]]);
  });
});

describe("clones", () => {
  test.each(SLEEPERS)("of $kind begin with the instance as it is now", async (sleeper) => {
    const { id } = await make(api, sleeper, sleeper.body);
    await becomes(api, sleeper.kind, id, "available");
    const { status, body } = await send(`${sleeper.path}/${id}/clone`, { json: { name: "clone" } });
    expect([status, body.data.attributes.status]).toEqual([201, "restoring"]);
    expect(body.data.meta.origin).toEqual({ source: id, snapshot: null, restore_time: null });
  });

  test("have the databases of the instance that are being created, and not those that are being deleted", async () => {
    const { id } = await make(api, DATABASES, DATABASES.body);
    await becomes(api, "databases", id, "available");
    await api.db`
      insert into database_schemas (id, database_id, name, status) values (${`schema-${id}`}, ${id}, 'former', 'deleting')`;
    await api.db`update database_schemas set status = 'creating' where database_id = ${id} and name = 'main'`;
    const { body } = await send(`${DATABASES.path}/${id}/clone`, { json: { name: "clone" } });
    expect(body.included?.map(({ attributes }) => attributes.name)).toEqual(["main"]);
  });
});

test("a cache is restored from its own snapshot", async () => {
  const { id, snapshot, path } = await saved(CACHES);
  const { status, body } = await send(`${path}/restore`, {
    json: { name: "restored", cache_snapshot_id: snapshot },
  });
  expect([status, body.data.attributes.status]).toEqual([201, "restoring"]);
  expect(body.data.meta.origin).toEqual({ source: id, snapshot, restore_time: null });
});

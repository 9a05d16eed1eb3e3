// Snapshots of database clusters and caches: made, read, listed and deleted, by request and by schedule.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { PublicError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { ARCHIVES, enqueueArchiveOf } from "../../src/resources/shared/backups/archives.ts";
import { validDatabase, type TestApi } from "../support/api/api.ts";
import { backupInfo, emptyState, startArchivingApi, type ArchivingApi } from "../support/api/archives.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";
import { becomes, make, SLEEPERS } from "../support/api/resources-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

interface Snapshot {
  id: string;
  type: string;
  attributes: Record<string, unknown> & { status: string; type: string };
  relationships: Record<string, { data: unknown }>;
  links: { self: { href: string } };
  meta: { last_error: string | null; source: { name: string } };
}

interface Answer {
  data: Snapshot;
  included?: { id: string }[];
  message?: string;
  errors?: Record<string, string[]>;
}

const KINDS = [
  { sleeper: SLEEPERS[0], noun: "cache", type: "cache_snapshots", path: "/api/cache-snapshots" },
  { sleeper: SLEEPERS[1], noun: "database", type: "database_snapshots", path: "/api/database-snapshots" },
] as const;

let api: ArchivingApi;
beforeAll(async () => {
  api = await startArchivingApi();
});
afterEach(() => {
  api.archives.beforeBackup = async () => {};
});
afterAll(() => api.stop());

async function send(path: string, init: Parameters<TestApi["request"]>[1] = {}) {
  const response = await api.request(path, init);
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Answer };
}

/** An instance that its host runs. */
async function instance(sleeper: (typeof SLEEPERS)[number], json: object = sleeper.body): Promise<string> {
  const { id } = await make(api, sleeper, json);
  await becomes(api, sleeper.kind, id, "available");
  return id;
}

describe.each(KINDS)("a snapshot of a $noun", ({ sleeper, noun, type, path }) => {
  const create = (id: string, json: object = { name: "before" }, headers: Record<string, string> = {}) =>
    send(`${sleeper.path}/${id}/snapshots`, { json, headers });

  test("is pending at first, and available with its size when the backup is made", async () => {
    const id = await instance(sleeper);
    const held = Promise.withResolvers<void>();
    api.archives.beforeBackup = () => held.promise;
    const { status, body } = await create(id, { name: "before", description: "the old column" });
    expect([status, body.data.type, body.data.attributes.status]).toEqual([201, type, "pending"]);
    const address = `${path}/${body.data.id}`;
    expect(body.data.links.self.href).toBe(address);
    await send(`${address}?wait=creating`);
    held.resolve();
    const made = (await send(`${address}?wait=available`)).body.data;
    expect(made.attributes).toMatchObject({
      name: "before",
      description: "the old column",
      type: "manual",
      status: "available",
      storage_bytes: 4_096,
      pitr_enabled: false,
      pitr_ends_at: null,
      completed_at: expect.any(String),
    });
    expect(made.relationships[noun]).toEqual({ data: { id, type: sleeper.kind } });
    const listed = await send(`${sleeper.path}/${id}/snapshots?include=${noun}`);
    expect((listed.body.data as unknown as Snapshot[]).map((each) => each.id)).toEqual([made.id]);
    expect(listed.body.included?.map((each) => each.id)).toEqual([id]);
  });

  test("of a name that is too long, or without a name, is refused", async () => {
    const id = await instance(sleeper);
    expect((await create(id, {})).body.errors).toEqual({ name: ["The field name is required."] });
    const long = await create(id, { name: "x".repeat(101), description: "ab" });
    expect([long.status, Object.keys(long.body.errors ?? {})]).toEqual([422, ["name", "description"]]);
  });

  test("is the same for the same Idempotency-Key", async () => {
    const id = await instance(sleeper);
    const key = { "Idempotency-Key": `key-${id}` };
    const [first, second] = [await create(id, undefined, key), await create(id, undefined, key)];
    expect(second.body.data.id).toBe(first.body.data.id);
  });

  test("is deleted with its backup, and answers 404 from then on", async () => {
    const id = await instance(sleeper);
    const { body } = await create(id);
    const address = `${path}/${body.data.id}`;
    await send(`${address}?wait=available`);
    expect((await send(address, { method: "DELETE" })).status).toBe(204);
    await until("it is gone", async () => (await send(address)).status === 404);
    expect(api.archives.states.get(id)?.backups).toEqual([]);
  });

  test("that is deleted while it is made is given up", async () => {
    const id = await instance(sleeper);
    api.archives.beforeBackup = (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
    const { body } = await create(id);
    const address = `${path}/${body.data.id}`;
    await send(`${address}?wait=creating`);
    await send(address, { method: "DELETE" });
    await until("it is gone", async () => (await send(address)).status === 404);
  });

  test("that the host refuses is failed with the reason, after some tries", async () => {
    const id = await instance(sleeper);
    api.archives.beforeBackup = () => Promise.reject(new PublicError("The disk of backups is full."));
    const { body } = await create(id);
    await until("it is refused", async () => {
      const refused = await api.db`
        update snapshots set failing_since = failing_since - interval '2 minutes'
        where id = ${body.data.id} and failing_since is not null returning id`;
      return refused.length > 0;
    });
    const failed = (await send(`${path}/${body.data.id}?wait=failed`)).body.data;
    expect([failed.attributes.status, failed.meta.last_error]).toEqual([
      "failed",
      "The disk of backups is full.",
    ]);
    const events = await send(`/api/events?filter[resource]=${body.data.id}`);
    const types = (events.body.data as unknown as Snapshot[]).map((each) => each.attributes.type);
    expect(types).toEqual(["failed", "created"]);
  });

  test("that has run for long is tried again after a first refusal", async () => {
    const id = await instance(sleeper);
    const held = Promise.withResolvers<void>();
    api.archives.beforeBackup = async () => {
      api.archives.beforeBackup = async () => {};
      await held.promise;
      throw new PublicError("The keeper of backups does not answer.");
    };
    const { body } = await create(id);
    await api.db`update snapshots set created_at = now() - interval '2 minutes' where id = ${body.data.id}`;
    held.resolve();
    const made = (await send(`${path}/${body.data.id}?wait=available`)).body.data;
    expect([made.attributes.status, made.meta.last_error]).toEqual(["available", null]);
  });

  test("of another organization does not exist", async () => {
    const id = await instance(sleeper);
    const { body } = await create(id);
    const token = await api.newToken(["*"], "elsewhere");
    for (const address of [
      `${path}/${body.data.id}`,
      `${sleeper.path}/${id}/snapshots`,
      `${sleeper.path}/${id}/backups`,
    ])
      expect((await send(address, { token })).status).toBe(404);
    expect((await send(`${path}/${body.data.id}`, { method: "DELETE", token })).status).toBe(404);
    expect((await send(`${sleeper.path}/${id}/snapshots`, { token, json: { name: "x" } })).status).toBe(404);
  });

  test("needs the ability to write the kind", async () => {
    const id = await instance(sleeper);
    const token = await api.newToken([`${sleeper.kind}:read`]);
    expect((await send(`${sleeper.path}/${id}/snapshots`, { token, json: { name: "x" } })).status).toBe(403);
    expect((await send(`${sleeper.path}/${id}/snapshots`, { token })).status).toBe(200);
  });

  test("outlives its instance until it is deleted, unless the instance is purged", async () => {
    const kept = await instance(sleeper);
    const { body } = await create(kept);
    const address = `${path}/${body.data.id}`;
    await send(`${address}?wait=available`);
    await send(`${sleeper.path}/${kept}`, { method: "DELETE" });
    await erase(sleeper.kind, kept);
    const after = (await send(address)).body.data;
    expect([after.attributes.status, after.relationships[noun]]).toEqual(["available", { data: null }]);
    expect((await send(`${sleeper.path}/${kept}/backups`)).status).toBe(200);
    expect((await send(`${sleeper.path}/${kept}/backups`, { method: "DELETE" })).status).toBe(204);
    await until("it is gone", async () => (await send(address)).status === 404);
    expect(api.archives.removed).toContain(kept);
  });

  test("goes with its instance when the purge is asked for while that is being deleted", async () => {
    const id = await instance(sleeper);
    const { body } = await create(id);
    const address = `${path}/${body.data.id}`;
    await send(`${address}?wait=available`);
    await send(`${sleeper.path}/${id}`, { method: "DELETE" });
    for (const _time of [1, 2])
      expect((await send(`${sleeper.path}/${id}?purge=true`, { method: "DELETE" })).status).toBe(204);
    const asked = await api.db`select from audit where resource_id = ${id} and action = 'purge'`;
    expect(asked).toHaveLength(1);
    await erase(sleeper.kind, id);
    await until("it is gone", async () => (await send(address)).status === 404);
    expect(api.archives.removed).toContain(id);
  });
});

/** What the reconciler of an instance does when nothing is left of it. */
async function erase(kind: "caches" | "databases", id: string): Promise<void> {
  const { eraseCache } = await import("../../src/resources/caches/store.ts");
  const { eraseDatabaseCluster } = await import("../../src/resources/databases/store.ts");
  await api.db.begin(async (tx) => await (kind === "caches" ? eraseCache : eraseDatabaseCluster)(tx, id));
}

/** A cluster with a schedule. */
const scheduled = async (config: object, type = "hosted_serverless_postgres") =>
  await instance(SLEEPERS[1], { ...validDatabase, type, config });

describe("scheduled snapshots of a database cluster", () => {
  const PATH = "/api/databases/clusters";
  const snapshotsOf = async (id: string) =>
    (await send(`${PATH}/${id}/snapshots`)).body.data as unknown as Snapshot[];
  const firstIsMade = async (id: string) =>
    await until(
      "the first is made",
      async () => (await snapshotsOf(id))[0]?.attributes.status === "available",
    );

  test("begin when the retention is turned on, and cannot be deleted while the log is kept", async () => {
    const id = await scheduled({ retention_days: 7 });
    await firstIsMade(id);
    const [first] = await snapshotsOf(id);
    expect(first?.attributes).toMatchObject({ type: "scheduled", name: null, pitr_enabled: true });
    const refused = await send(`/api/database-snapshots/${first?.id}`, { method: "DELETE" });
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      { id: ["Automatic backups cannot be deleted while point-in-time recovery is enabled."] },
    ]);
    await send(`${PATH}/${id}`, { method: "PATCH", json: { config: { retention_days: 0 } } });
    expect((await send(`/api/database-snapshots/${first?.id}`, { method: "DELETE" })).status).toBe(204);
  });

  test("are kept for the retention, beside those that somebody asked for", async () => {
    const id = await scheduled({ retention_days: 3 });
    await firstIsMade(id);
    const { body } = await send(`${PATH}/${id}/snapshots`, { json: { name: "mine" } });
    await until("it is kept", () =>
      api.archives.retentions.some(({ keepBackups }) => keepBackups.includes(body.data.id)),
    );
    const kept = api.archives.retentions.find(({ keepBackups }) => keepBackups.includes(body.data.id));
    expect(kept?.keepBackups).toEqual([body.data.id]);
    expect(Date.now() - Date.parse(kept?.keepFrom ?? "")).toBeGreaterThanOrEqual(3 * 86_400_000);
  });

  test("stay while the archive may have backups that it does not show", async () => {
    const id = await scheduled({ retention_days: 3 });
    await firstIsMade(id);
    const [first] = await snapshotsOf(id);
    const backups = [backupInfo(id, newId("snapshot"), new Date())];
    const isLookedAtWith = async (lastError: string | null) => {
      api.archives.states.set(id, { ...emptyState(id), backups, lastError });
      await api.db.begin((tx) => enqueueArchiveOf(tx, id));
      await until("the archive was looked at", async () => {
        const open = await api.db`
          select from work where kind = ${ARCHIVES} and id like ${`%${id}`} and (owner is not null or run_at <= now())`;
        return open.length === 0;
      });
      return (await snapshotsOf(id)).some((snapshot) => snapshot.id === first?.id);
    };
    expect(await isLookedAtWith("A backup target is away.")).toBe(true);
    expect(await isLookedAtWith(null)).toBe(false);
  });

  test("of a MySQL are taken daily where it was asked for", async () => {
    const id = await scheduled({ uses_scheduled_snapshots: true, retention_days: 2 }, "platform_mysql");
    await firstIsMade(id);
    expect(await snapshotsOf(id)).toHaveLength(1);
    const { body } = await send(`${PATH}/${id}`);
    expect(body.data.attributes).toMatchObject({ supports_pitr: "false", earliest_restore_time: "" });
  });

  test("uses_pitr without days is refused", async () => {
    const json = {
      ...validDatabase,
      type: "provider_managed_postgres",
      config: { uses_pitr: true, retention_days: 0 },
    };
    const { status, body } = await send(PATH, { json });
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, ["config.retention_days"]]);
  });
});

test("every answer is documented", async () => {
  const document = await documentOf(api);
  const id = await instance(SLEEPERS[1]);
  const path = "/databases/clusters/{id}/snapshots";
  const made = await api.request(`/api/databases/clusters/${id}/snapshots`, { json: { name: "x" } });
  const { data } = (await made.clone().json()) as Answer;
  await expectDocumented(document, path, "post", made);
  await send(`/api/database-snapshots/${data.id}?wait=available`);
  for (const [address, template] of [
    [`/api/databases/clusters/${id}/snapshots`, path],
    [`/api/databases/clusters/${id}/snapshots/${data.id}`, `${path}/{snapshot}`],
    [`/api/database-snapshots/${data.id}`, "/database-snapshots/{id}"],
    [`/api/databases/clusters/${id}/backups`, "/databases/clusters/{id}/backups"],
    ["/api/backups", "/backups"],
  ] as const)
    await expectDocumented(document, template, "get", await api.request(address));
});

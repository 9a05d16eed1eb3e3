// Snapshots, restores and clones of caches, with a real engine, host and keeper.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { openStore } from "../../crash/inspection.ts";
import { startPilvi, until, type CacheDocument, type TestPilvi } from "../../support/pilvi/pilvi.ts";

interface SnapshotDocument {
  data: { id: string; attributes: { status: string }; meta: { last_error: string | null } };
}

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

/** Runs commands with the credentials of a cache. */
async function as<Result>(
  { attributes: { connection } }: CacheResource,
  commands: (client: Redis) => Promise<Result>,
): Promise<Result> {
  const { hostname: host, port, username = "", password = "" } = connection;
  const client = new Redis({ host, port, username, password, lazyConnect: true });
  try {
    return await commands(client);
  } finally {
    client.disconnect();
  }
}

const keysOf = (cache: CacheResource) =>
  as(cache, async (client) => [await client.get("first"), await client.get("second")]);

/** Begins a restore or a clone, and waits until the new cache is available. */
async function copy(id: string, verb: "restore" | "clone", json: object): Promise<CacheResource> {
  const { status, body } = await pilvi.api<CacheDocument>("POST", `/caches/${id}/${verb}`, json);
  expect([status, body.data?.attributes.status ?? body]).toEqual([201, "restoring"]);
  await pilvi.untilStatus(body.data.id, "available");
  return body.data;
}

async function snapshot(id: string): Promise<string> {
  const { body } = await pilvi.api<SnapshotDocument>("POST", `/caches/${id}/snapshots`, { name: "before" });
  const address = `/cache-snapshots/${body.data.id}?wait=available`;
  const { data } = (await pilvi.api<SnapshotDocument>("GET", address)).body;
  expect([data.meta.last_error, data.attributes.status]).toEqual([null, "available"]);
  return data.id;
}

test("a snapshot has the keys of its moment, and is restored to a cache with credentials of its own", async () => {
  const source = await pilvi.createCache({ name: "source" });
  await as(source, (client) => client.set("first", "1"));
  const cache_snapshot_id = await snapshot(source.id);
  await as(source, (client) => client.set("second", "2"));
  const restored = await copy(source.id, "restore", { name: "restored", cache_snapshot_id });
  expect(await keysOf(restored)).toEqual(["1", null]);
  expect(await keysOf(source)).toEqual(["1", "2"]);
  expect(restored.attributes.connection.password).not.toBe(source.attributes.connection.password);
  expect(restored.meta.origin).toEqual({
    source: source.id,
    snapshot: cache_snapshot_id,
    restore_time: null,
  });
});

test("a cache that sleeps is saved and cloned without being woken", async () => {
  const source = await pilvi.createCache({ name: "sleeper", uses_hibernation: true });
  await as(source, (client) => client.set("first", "1"));
  await pilvi.api("POST", `/caches/${source.id}/suspend`);
  await snapshot(source.id);
  const clone = await copy(source.id, "clone", { name: "clone" });
  expect(await keysOf(clone)).toEqual(["1", null]);
  const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${source.id}`);
  expect(body.data.meta.sleep.state).toBe("asleep");
});

test("a snapshot of a deleted cache is restored, until its backups are purged", async () => {
  const source = await pilvi.createCache({ name: "gone" });
  await as(source, (client) => client.set("first", "1"));
  const cache_snapshot_id = await snapshot(source.id);
  await pilvi.api("DELETE", `/caches/${source.id}`);
  expect((await pilvi.api("GET", `/caches/${source.id}?wait=deleted`)).status).toBe(404);
  const restored = await copy(source.id, "restore", { name: "back", cache_snapshot_id });
  expect(await keysOf(restored)).toEqual(["1", null]);
  expect((await pilvi.api("DELETE", `/caches/${source.id}/backups`)).status).toBe(204);
  const address = `/cache-snapshots/${cache_snapshot_id}`;
  for (let status = 200; status !== 404;)
    status = (await pilvi.api("GET", `${address}?wait=deleting`)).status;
});

test("nothing is kept of a deleted cache whose only snapshot had failed", async () => {
  const source = await pilvi.createCache({ name: "unlucky" });
  const id = await snapshot(source.id);
  const store = await openStore(pilvi);
  await store`update snapshots set status = 'failed' where id = ${id}`;
  await store.close();
  await pilvi.api("DELETE", `/caches/${source.id}`);
  await until("its snapshot is gone", async () => {
    return (await pilvi.api("GET", `/cache-snapshots/${id}`)).status === 404;
  });
  await until("its archive is gone", async () => {
    return !JSON.stringify((await pilvi.api("GET", "/backups")).body).includes(source.id);
  });
});

test("a check reads all backups back, and names the object that is damaged", async () => {
  const source = await pilvi.createCache({ name: "checked" });
  const name = `archives/${source.id}/backups/${await snapshot(source.id)}/parts`;
  const sound = await pilvi.run("backups", "check");
  expect([sound.code, sound.stderr]).toEqual([0, ""]);
  expect(sound.stdout).toMatch(/^\d+ objects, \d+ MiB read back: no faults\.\n$/);
  const folder = join(pilvi.dataDir, "backups");
  const [part = ""] = readdirSync(join(folder, name));
  const sealed = readFileSync(join(folder, name, part));
  const last = sealed.length - 1;
  sealed[last] = (sealed[last] ?? 0) ^ 1;
  writeFileSync(join(folder, name, part), sealed);
  const damaged = await pilvi.run("backups", "check");
  expect(damaged.code).toBe(1);
  expect(damaged.stdout).toContain(`${folder}/${name}/${part}: `);
  expect(damaged.stdout).toMatch(/read back: 1 fault\.\n$/);
});

test("Pilvi's own store is backed up as soon as there are backups of resources", async () => {
  const folder = join(pilvi.dataDir, "backups", "archives", "store");
  const has = (path: string) => existsSync(join(folder, path)) && readdirSync(join(folder, path)).length > 0;
  await until("the store is backed up", () => has("backups") && has("log"));
  const [backup = ""] = readdirSync(join(folder, "backups"));
  await until("the backup is complete", () => existsSync(join(folder, "backups", backup, "backup.json")));
});

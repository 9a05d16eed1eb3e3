// Answers show the measured storage of each resource and of its organization.
import { afterEach, expect, test } from "bun:test";
import type { StorageReading } from "../../src/contracts/host-answers.ts";
import { eraseRow } from "../../src/resources/shared/rows.ts";
import { eraseReplica, insertReplica } from "../../src/resources/databases/replicas/store.ts";
import { updateStorage } from "../../src/resources/shared/allocations.ts";
import { recordStorage } from "../../src/resources/shared/storage.ts";
import { sampleStorage } from "../../src/resources/shared/usage/sample.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";
import { ask } from "../support/api/resources-api.ts";

interface Organization {
  data: { meta: { quotas: { storage_bytes: { used: number } } } };
}

let api: TestApi;
afterEach(() => api.stop());

async function used(): Promise<number> {
  const response = await api.request("/api/meta/organization");
  return ((await response.json()) as Organization).data.meta.quotas.storage_bytes.used;
}

async function storageOf(id: string): Promise<number | null> {
  return (await ask(api, `/api/caches/${id}`)).body.data.meta.storage_bytes;
}

async function organizationOf(clusterId: string): Promise<string> {
  const [row] = await api.db<{ id: string }[]>`
    select organization_id as id from databases where id = ${clusterId}`;
  return row?.id ?? "";
}

test("an organization and its resources show the storage that the driver has measured", async () => {
  api = await startApi();
  const { data } = (await ask(api, "/api/caches", { method: "POST", json: validCache })).body;
  const { id } = data;
  expect([data.meta.storage_bytes, await storageOf(id), await used()]).toEqual([null, null, 0]);
  const readings: Record<string, StorageReading> = {
    "": { cursor: "1", bytes: { [id]: 5, "cache-unknown": 7 } },
    "1": { cursor: "2", bytes: { [id]: 3 } },
  };
  const { driver } = api.host;
  driver.storage = async (cursor = "") => readings[cursor] ?? { cursor, bytes: {} };
  const cursor = await recordStorage({ db: api.db, driver }, undefined);
  expect([await storageOf(id), await used()]).toEqual([5, 5]);
  expect(await recordStorage({ db: api.db, driver }, cursor)).toBe("2");
  expect([await storageOf(id), await used()]).toEqual([3, 3]);
  await api.db.begin((tx) => eraseRow(tx, "caches", id));
  expect(await used()).toBe(0);
});

test("a replica is a part of the storage of its cluster and its organization, and of the usage", async () => {
  api = await startApi();
  const path = "/api/databases/clusters";
  const { id } = (await ask(api, path, { method: "POST", json: validDatabase })).body.data;
  const cluster = { id, organizationId: await organizationOf(id), hostId: api.host.id };
  for (const [replica, port] of [
    ["replica-1", 9],
    ["replica-2", 10],
  ] as const)
    await api.db.begin((tx) => insertReplica(tx, cluster, replica, { ports: [port], limit: 0 }));
  const measured = async (bytes: Record<string, number>) => {
    api.host.driver.storage = async () => ({ cursor: "1", bytes });
    await recordStorage({ db: api.db, driver: api.host.driver }, undefined);
    return [(await ask(api, `${path}/${id}`)).body.data.meta.storage_bytes, await used()];
  };
  expect(await measured({ [id]: 5, "replica-1": 3 })).toEqual([8, 8]);
  expect(await measured({ "replica-1": 4, "replica-2": 2 })).toEqual([11, 11]);
  expect(await measured({ [id]: 1 })).toEqual([7, 7]);
  await sampleStorage(api.db);
  const hours = await api.db<{ bytes: number }[]>`
    select storage_bytes::int as bytes from usage_hours where resource_id = ${id}`;
  expect(hours.map(({ bytes }) => bytes)).toEqual([7]);
  await api.db.begin((tx) => eraseReplica(tx, id, "replica-1"));
  expect(await measured({ "replica-1": 9 })).toEqual([3, 3]);
});

test("measurements at the same time leave the sum of all instances", async () => {
  api = await startApi();
  const { db, host } = api;
  const path = "/api/databases/clusters";
  const { id } = (await ask(api, path, { method: "POST", json: validDatabase })).body.data;
  const cluster = { id, organizationId: await organizationOf(id), hostId: host.id };
  await db.begin((tx) => insertReplica(tx, cluster, "replica-1", { ports: [9], limit: 0 }));
  const write = async (of: string) => {
    for (let bytes = 1; bytes <= 50; bytes += 1) await db.begin((tx) => updateStorage(tx, of, bytes));
  };
  await Promise.all([id, "replica-1"].map(write));
  expect(await used()).toBe(100);
});

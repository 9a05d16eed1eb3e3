// Answers show the measured storage of each resource and of its organization.
import { afterEach, expect, test } from "bun:test";
import type { StorageReading } from "../../src/contracts/host-answers.ts";
import { eraseRow } from "../../src/resources/shared/rows.ts";
import { recordStorage } from "../../src/resources/shared/storage.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
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

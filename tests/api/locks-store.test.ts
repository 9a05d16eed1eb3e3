// Removals of resources beside what else locks rows of them: archives, keys of requests, and metrics.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { forgetResource, pruneOldKeys } from "../../src/api/operation/idempotency.ts";
import type { Reading } from "../../src/contracts/readings.ts";
import {
  archiveKey,
  enqueueArchive,
  eraseArchive,
  recordArchiveBytes,
} from "../../src/resources/shared/backups/archives.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import { deleteMetricsOf } from "../../src/resources/shared/metrics/roll-up.ts";
import type { Transaction } from "../../src/store/database.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

let api: TestApi;
let organizationId: string;
let caches: string[];

beforeAll(async () => {
  api = await startApi();
  const [row] = await api.db<{ id: string }[]>`select id from organizations`;
  if (row === undefined) throw new Error("no organization");
  organizationId = row.id;
  caches = [];
  for (const name of ["carts", "sessions"]) {
    const response = await api.request("/api/caches", { json: { ...validCache, name } });
    caches.push(((await response.json()) as { data: { id: string } }).data.id);
  }
});

afterAll(() => api.stop());

/** Locks two things one after the other, and has something begin between that needs both. */
async function lockBoth<Result>(
  lock: (tx: Transaction, place: 0 | 1) => Promise<unknown>,
  begin: () => Promise<Result>,
): Promise<Result | undefined> {
  let done: Promise<Result> | undefined;
  await inTransaction(api.db, async (tx) => {
    await lock(tx, 0);
    done = begin();
    await Promise.race([done, untilSomebodyWaits(api.db)]);
    await lock(tx, 1);
  });
  return await done;
}

test("the backups of a deleted cache are purged while their archive is removed", async () => {
  const id = `cache-${Bun.randomUUIDv7()}`;
  await api.db`
    insert into archives (id, organization_id, host_id, kind, source, deleted_at)
    values (${id}, ${organizationId}, ${api.host.id}, 'caches', ${{ name: "gone" }}::jsonb, now())`;
  await enqueueArchive(api.db, { id, hostId: api.host.id });
  const answer = await lockBoth(
    async (tx, place) =>
      place === 0 ? await tx`delete from work where kind = 'archives'` : await eraseArchive(tx, id),
    async () => await api.request(`/api/caches/${id}/backups`, { method: "DELETE" }),
  );
  expect(answer?.status).toBe(204);
});

test("the size of an archive is not recorded while the archive is being removed", async () => {
  const id = `cache-${Bun.randomUUIDv7()}`;
  await api.db`
    insert into archives (id, organization_id, host_id, kind, source)
    values (${id}, ${organizationId}, ${api.host.id}, 'caches', ${{ name: "gone" }}::jsonb)`;
  await recordArchiveBytes(api.db, [{ id, storedBytes: 1 }]);
  let done: Promise<void> | undefined;
  await inTransaction(api.db, async (tx) => {
    await eraseArchive(tx, id);
    done = recordArchiveBytes(api.db, [{ id, storedBytes: 2 }]);
    await untilSomebodyWaits(api.db);
  });
  await done;
  expect(await api.db`select from allocations where resource_id = ${archiveKey(id)}`).toHaveLength(0);
});

async function insertOldKey(key: string, id: string): Promise<void> {
  await api.db`
    insert into idempotency_keys (organization_id, key, request_hash, resource_kind, resource_id, created_at)
    values (${organizationId}, ${key}, '', 'caches', ${id}, now() - interval '25 hours')`;
}

test("a key of yesterday is used for a cache while that is removed", async () => {
  const [id = ""] = caches;
  await insertOldKey("again", id);
  const answer = await lockBoth(
    async (tx, place) =>
      place === 0
        ? await tx`update work set attempts = attempts where kind = 'caches' and id = ${id}`
        : await forgetResource(tx, id),
    async () =>
      await api.request(`/api/caches/${id}/rotate-credentials`, {
        json: { grace_seconds: 0 },
        headers: { "Idempotency-Key": "again" },
      }),
  );
  expect(answer?.status).toBe(200);
});

describe.each([
  ["first", 0, 1],
  ["second", 1, 0],
])("beside a removal that begins with the %s of two", (_which, first, second) => {
  const order = [first, second];

  test("old keys are deleted", async () => {
    const keys = ["key-1", "key-2"];
    await api.db`delete from idempotency_keys`;
    for (const key of keys) await insertOldKey(key, "cache-gone");
    await lockBoth(
      async (tx, place) =>
        await tx`update idempotency_keys set resource_id = null where key = ${keys[order[place] ?? 0]}`,
      async () => await pruneOldKeys(api.db),
    );
    await pruneOldKeys(api.db);
    expect(await api.db`select from idempotency_keys`).toHaveLength(0);
  });

  test("readings are taken", async () => {
    const hour = (Math.floor(Date.now() / HOUR_MS) - 3) * HOUR_MS;
    const measure = async (atMs: number) => {
      const figures: Omit<Reading, "id"> = { awakeMs: 1, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0 };
      const readings = caches.map((id) => ({ id, ...figures }));
      await takeReadings(api.db, api.host.id, [{ at: new Date(atMs).toISOString(), readings }], Date.now());
    };
    await measure(hour + first * 120_000);
    await measure(Date.now());
    await lockBoth(
      async (tx, place) => await deleteMetricsOf(tx, caches[order[place] ?? 0] ?? ""),
      async () => await measure(hour + first * 120_000 + 60_000),
    );
    const rows =
      await api.db`select from metrics_hours where at = ${new Date(hour)} and resource_id <> ${api.host.id}`;
    expect(rows).toHaveLength(2);
  });
});

test("partitions for another day are made while minutes are read after fives", async () => {
  const atMs = Date.now() + 3 * DAY_MS;
  const batch = { at: new Date(atMs).toISOString(), readings: [] };
  await lockBoth(
    async (tx, place) =>
      await tx`select from ${tx.unsafe(["metrics_fives", "metrics_minutes"][place] ?? "")} limit 1`,
    async () => await takeReadings(api.db, api.host.id, [batch], atMs),
  );
  const day = batch.at.slice(0, 10).replaceAll("-", "");
  expect(await api.db`select to_regclass(${`metrics_minutes_${day}`}) is not null as made`).toEqual([
    { made: true },
  ]);
});

// The renewal of leases beside a transaction that holds the lock of a work item for long.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { inTransaction, untilSomebodyWaits } from "../../tests/support/api/locks.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { Database } from "../store/database.ts";
import { item, loopOf, queueStore } from "./test-support.ts";

let db: Database;

beforeAll(async () => {
  db = await queueStore();
});

afterAll(async () => {
  await db.close();
});

async function leaseOf(id: string): Promise<number> {
  const [row] = await db`select extract(epoch from lease_until)::float8 as until from work where id = ${id}`;
  return row.until;
}

async function waiting(): Promise<number> {
  const [row] = await db`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return row.count;
}

test("the loop waits for a locked item with one statement, and renews its other leases meanwhile", async () => {
  const runs = new Map<string, AbortSignal>();
  const ends = Promise.withResolvers<void>();
  const loop = loopOf(
    db,
    async (id, signal) => {
      runs.set(id, signal);
      await ends.promise;
      return { result: { settled: true } };
    },
    { renewMs: 20 },
  );
  await loop.start();
  try {
    for (const id of ["thing-1", "thing-2"]) await item(db, id);
    await until("both run", () => runs.size === 2);
    await inTransaction(db, async (tx) => {
      const [{ lease }] = await tx`
        select extract(epoch from lease_until)::float8 as lease from work where id = 'thing-1' for no key update`;
      await untilSomebodyWaits(db);
      for (let round = 0; round < 5; round += 1) {
        const before = await leaseOf("thing-2");
        await until("the other lease is renewed", async () => (await leaseOf("thing-2")) > before);
        expect(await waiting()).toBeLessThanOrEqual(1);
      }
      expect(await leaseOf("thing-1")).toBe(lease);
    });
    const before = await leaseOf("thing-1");
    await until("the lease is renewed", async () => (await leaseOf("thing-1")) > before);
    expect([...runs.values()].map(({ aborted }) => aborted)).toEqual([false, false]);
  } finally {
    ends.resolve();
    await loop.stop();
  }
});

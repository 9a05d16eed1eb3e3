// Work whose time was written while the clock was ahead, against a real Postgres.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { Database } from "../store/database.ts";
import { complete, enqueue, freeDistant } from "./queue.ts";
import { item, loopOf, queueStore, settle, takeOne, workOf } from "./test-support.ts";

let db: Database;
beforeAll(async () => {
  db = await queueStore();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db`delete from work`;
});

const putOff = (id: string, interval: string) =>
  db`update work set run_at = now() + ${interval}::interval where id = ${id}`;

test("unsettled work that lies a year ahead is due, and all else keeps its time", async () => {
  await settle(db, "at-rest");
  await settle(db, "settled");
  await putOff("settled", "1 year");
  await item(db, "running");
  await takeOne(db, 1);
  await item(db, "paused");
  await complete(db, 1, await takeOne(db, 1), { settled: false, retryMs: 30_000, lastError: null });
  await item(db, "distant");
  await putOff("distant", "1 year");
  await freeDistant(db);
  const due = await Promise.all(
    ["at-rest", "settled", "running", "paused", "distant"].map(async (id) => (await workOf(db, id))?.isDue),
  );
  expect(due).toEqual([false, false, false, false, true]);
});

test("a running loop finds it by itself", async () => {
  const loop = loopOf(db, async () => ({ result: { settled: true } }));
  await loop.start();
  await item(db, "first");
  await until("the loop has begun", async () => (await workOf(db, "first"))?.isSettled === true);
  await db.begin(async (tx) => {
    await enqueue(tx, { kind: "things", id: "distant", hostId: null, deadlineSeconds: 60 });
    await tx`update work set run_at = now() + interval '1 year' where id = 'distant'`;
  });
  await until("it is settled", async () => (await workOf(db, "distant"))?.isSettled === true);
  await loop.stop();
});

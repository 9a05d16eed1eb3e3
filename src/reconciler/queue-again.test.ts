// How a run finds out that its resource was queued again meanwhile, so that it need not go on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../store/database.ts";
import { complete, isQueuedAgain, requeue } from "./queue.ts";
import { item, queueStore, takeNew, takeOne } from "./test-support.ts";

let db: Database;
beforeAll(async () => {
  db = await queueStore();
});
afterAll(() => db.close());

test("a resource is queued again by an order, and not by what is observed of it", async () => {
  await item(db, "thing-1");
  const job = await takeOne(db, 1);
  expect(await isQueuedAgain(db, job)).toBe(false);
  await requeue(db, [{ instanceId: "thing-1", convergence: "broken" }]);
  expect(await isQueuedAgain(db, job)).toBe(false);
  await item(db, "thing-1");
  expect(await isQueuedAgain(db, job)).toBe(true);
  await db`delete from work`;
});

test.each([
  ["settled", { settled: true }],
  ["unsettled", { settled: false, retryMs: 1_000, lastError: null }],
] as const)(
  "the end of a run that is %s shows whether its resource was queued again",
  async (how, result) => {
    const id = `thing-${how}`;
    const job = await takeNew(db, id);
    await db.begin(async (tx) => {
      await complete(tx, 1, job, result);
      expect(await isQueuedAgain(tx, job)).toBe(false);
    });
    await db`update work set run_at = now() where id = ${id}`;
    const later = await takeOne(db, 1);
    await item(db, id);
    await db.begin(async (tx) => {
      await complete(tx, 1, later, result);
      expect(await isQueuedAgain(tx, later)).toBe(true);
    });
    await db`delete from work`;
  },
);

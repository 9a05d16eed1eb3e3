// How a run finds out that its resource was queued again meanwhile, so that it need not go on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../store/database.ts";
import { isQueuedAgain, requeue } from "./queue.ts";
import { item, queueStore, takeOne } from "./test-support.ts";

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
});

// Statements about several work items beside transactions that enqueue several, in whatever order.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { inTransaction, untilSomebodyWaits } from "../../tests/support/api/locks.ts";
import type { Database } from "../store/database.ts";
import { claim, enqueue, freeAbandoned, requeue, requeueMissing } from "./queue.ts";
import { renewLeases, renewLockedLease } from "./renewals.ts";
import { allOn, HOST, item, queueStore, settle, workOf } from "./test-support.ts";

let db: Database;

beforeAll(async () => {
  db = await queueStore();
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  await db`delete from work`;
  await db`delete from instances`;
});

describe.each([
  ["thing-1", "thing-2"],
  ["thing-2", "thing-1"],
])("a transaction that enqueues %s and then %s", (first, second) => {
  /** Has a statement for both come between the two. */
  async function between(statement: () => Promise<unknown>): Promise<void> {
    let done: Promise<unknown> | undefined;
    await inTransaction(db, async (tx) => {
      await enqueue(tx, { kind: "things", id: first, hostId: HOST, deadlineSeconds: 60 });
      done = statement();
      await Promise.race([done, untilSomebodyWaits(db)]);
      await enqueue(tx, { kind: "things", id: second, hostId: HOST, deadlineSeconds: 60 });
    });
    await done;
  }

  test("goes on while both are requeued", async () => {
    await settle(db, "thing-1");
    await settle(db, "thing-2");
    await between(async () => {
      const broken = ["thing-1", "thing-2"].map((instanceId) => ({
        instanceId,
        convergence: "broken" as const,
      }));
      await requeue(db, broken);
    });
    expect(await workOf(db, first)).toMatchObject({ isDue: true });
    expect(await workOf(db, second)).toMatchObject({ isDue: true });
  });

  test("goes on while both are requeued as missing", async () => {
    await settle(db, "thing-1");
    await settle(db, "thing-2");
    await between(async () => await requeueMissing(db, HOST, []));
    expect(await workOf(db, first)).toMatchObject({ isDue: true });
    expect(await workOf(db, second)).toMatchObject({ isDue: true });
  });

  test("goes on while the leases of both are renewed", async () => {
    await item(db, "thing-1");
    await item(db, "thing-2");
    await claim(db, 1, allOn(HOST), 2);
    const keys = ["things/thing-1", "things/thing-2"];
    let lost: string[] = [];
    await between(async () => {
      const renewal = await renewLeases(db, 1, keys);
      ({ lost } = renewal);
      for (const key of renewal.locked) if (!(await renewLockedLease(db, 1, key))) lost.push(key);
    });
    expect(lost).toEqual([]);
  });

  test("goes on while both are taken back from an owner that is gone", async () => {
    await item(db, "thing-1");
    await item(db, "thing-2");
    await claim(db, 1, allOn(HOST), 2);
    await between(async () => await freeAbandoned(db, { owner: 2, keys: [] }));
    // What was locked is taken back the next time.
    await freeAbandoned(db, { owner: 2, keys: [] });
    expect(await workOf(db, first)).toMatchObject({ owner: null });
    expect(await workOf(db, second)).toMatchObject({ owner: null });
  });
});

// The queue against a real Postgres: which owner gets which work, and what becomes of the work of an owner that is
// gone.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { Database } from "../store/database.ts";
import { becomeOwner } from "./owner.ts";
import { freeAbandoned, complete, requeue, requeueMissing, nextDueMs, claim } from "./queue.ts";
import { renewLeases } from "./renewals.ts";
import {
  addInstance,
  allOn,
  HOST,
  queueStore,
  sessionOf,
  settle,
  takeNew,
  takeOne,
  item,
  workOf,
} from "./test-support.ts";

const SETTLED = { settled: true } as const;
const FAILED = { settled: false, retryMs: 60_000, lastError: "It is not there yet." } as const;

const inHalfAMinute = () => ({ settled: true, againAt: new Date(Date.now() + 30_000) }) as const;

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

const newOwner = () => becomeOwner((onClose) => sessionOf(db, onClose));

describe("claiming", () => {
  test("gives each resource to one of many owners, and no more than the limit", async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `thing-${index}`);
    for (const id of ids) await item(db, id);
    const taken = await Promise.all(
      Array.from({ length: 8 }, (_, owner) => claim(db, owner + 1, allOn(HOST), 5)),
    );
    expect(taken.every((jobs) => jobs.length <= 5)).toBe(true);
    const rest = await claim(db, 9, allOn(HOST), 100);
    const all = [...taken.flat(), ...rest].map((job) => job.id);
    expect(all.sort()).toEqual(ids.sort());
  });

  test("leaves other hosts' resources and resources that are not due", async () => {
    await item(db, "thing-1");
    expect(await claim(db, 1, allOn("host-2"), 10)).toEqual([]);
    const job = await takeOne(db, 1);
    await complete(db, 1, job, FAILED);
    expect(await claim(db, 1, allOn(HOST), 10)).toEqual([]);
    expect(await nextDueMs(db, { hostIds: [HOST] })).toBeWithin(1_000, 60_001);
  });
});

test("work is claimed of the given kinds, or of all other kinds", async () => {
  await item(db, "thing-1");
  const hostIds = [HOST];
  expect(await claim(db, 1, { hostIds, kinds: { among: ["others"] } }, 10)).toEqual([]);
  expect(await claim(db, 1, { hostIds, kinds: { except: ["things"] } }, 10)).toEqual([]);
  expect(await claim(db, 1, { hostIds, kinds: { among: ["others", "things"] } }, 10)).toHaveLength(1);
});

describe("work without a host", () => {
  test("is done by the first owner, whatever hosts it serves", async () => {
    await item(db, "thing-1", null);
    expect(await nextDueMs(db, { hostIds: ["host-2"] })).toBeLessThanOrEqual(0);
    const [job] = await claim(db, 1, allOn("host-2"), 10);
    expect(job?.id).toBe("thing-1");
    expect(await claim(db, 2, allOn(HOST), 10)).toEqual([]);
  });

  test("is never missing from a host", async () => {
    await item(db, "thing-1", null);
    await complete(db, 1, await takeOne(db, 1), SETTLED);
    await requeueMissing(db, HOST, []);
    expect((await workOf(db, "thing-1"))?.isSettled).toBe(true);
  });
});

describe("a resource with several instances", () => {
  test("is requeued for any of them", async () => {
    await settle(db, "thing-1");
    await addInstance(db, "thing-1-b", "thing-1");
    await requeue(db, [{ instanceId: "thing-1-b", convergence: "broken" }]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(true);
  });

  test("is requeued when one of them is missing from its host", async () => {
    await settle(db, "thing-1");
    await addInstance(db, "thing-1-b", "thing-1");
    await requeueMissing(db, HOST, ["thing-1", "thing-1-b"]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(false);
    await requeueMissing(db, HOST, ["thing-1"]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(true);
  });
});

describe("settled work with a time to be reconciled again", () => {
  test("is due at that time and not before, without being overdue", async () => {
    await item(db, "thing-1");
    expect(await complete(db, 1, await takeOne(db, 1), inHalfAMinute())).toBe("given");
    expect(await claim(db, 1, allOn(HOST), 10)).toEqual([]);
    expect(await nextDueMs(db, { hostIds: [HOST] })).toBeWithin(20_000, 30_001);
    expect(await db`select from work where deadline_at is null`).toHaveLength(1);
  });

  test("waits a shortest pause, also for a past time and for news that came before", async () => {
    const early = await takeNew(db, "thing-1");
    // The clock of the store stands still within a transaction.
    await db.begin(async (tx) => {
      await complete(tx, 1, early, { settled: true, againAt: new Date(0) });
      expect((await workOf(tx, "thing-1"))?.retryMs).toBe(100);
    });
    const job = await takeNew(db, "thing-1");
    await item(db, "thing-1");
    expect(await complete(db, 1, job, inHalfAMinute())).toBe("outdated");
    expect((await takeOne(db, 1)).deadlineAt).not.toBeNull();
  });

  test("is due sooner when a driver observes something", async () => {
    await item(db, "thing-1");
    await complete(db, 1, await takeOne(db, 1), inHalfAMinute());
    await requeue(db, [{ instanceId: "thing-1", convergence: "broken" }]);
    expect((await takeOne(db, 1)).id).toBe("thing-1");
  });
});

describe("completing", () => {
  test("leaves no work for a settled resource", async () => {
    await settle(db, "thing-1");
    expect(await workOf(db, "thing-1")).toMatchObject({ isSettled: true, attempts: 0, owner: null });
    expect(await nextDueMs(db, { hostIds: [HOST] })).toBeNull();
  });

  test("tries a failed resource again later, with its reason", async () => {
    await item(db, "thing-1");
    await complete(db, 1, await takeOne(db, 1), FAILED);
    const row = await workOf(db, "thing-1");
    expect(row).toMatchObject({ lastError: FAILED.lastError, isDue: false, attempts: 1 });
    expect(row?.retryMs).toBeWithin(1_000, 60_001);
  });

  test("a resource that changed during its run is outdated and due at once", async () => {
    for (const result of [SETTLED, FAILED]) {
      const job = await takeNew(db, "thing-1");
      await item(db, "thing-1");
      expect(await complete(db, 1, job, result)).toBe(result === SETTLED ? "outdated" : "given");
      expect(await workOf(db, "thing-1")).toMatchObject({ isDue: true, owner: null, isSettled: false });
      await db`delete from work`;
      await db`delete from instances`;
    }
  });

  test.each([[SETTLED], [FAILED], ["gone" as const]])(
    "after the lease was lost changes nothing",
    async (result) => {
      const job = await takeNew(db, "thing-1");
      await db`update work set owner = 2`;
      const before = await workOf(db, "thing-1");
      expect(await complete(db, 1, job, result)).toBe("lost");
      expect({ ...(await workOf(db, "thing-1")), retryMs: null }).toEqual({
        ...before,
        retryMs: null,
      } as never);
    },
  );
});

describe("the leases of an owner that is gone", () => {
  test("are free as soon as the store has ended its session", async () => {
    const dead = await newOwner();
    const alive = await newOwner();
    await item(db, "thing-1");
    await takeOne(db, dead.id);
    await freeAbandoned(db, { owner: alive.id, keys: [] });
    expect((await workOf(db, "thing-1"))?.owner).toBe(dead.id);
    await dead.close();
    // The store ends a session, and with it its lock, a moment after the client has closed it.
    await until("the row is free", async () => {
      await freeAbandoned(db, { owner: alive.id, keys: [] });
      return (await workOf(db, "thing-1"))?.owner === null;
    });
    expect(await workOf(db, "thing-1")).toMatchObject({ owner: null, isDue: true });
    await alive.close();
  });

  test("are free when they ran out, although its session lives", async () => {
    const hung = await newOwner();
    await item(db, "thing-1");
    await takeOne(db, hung.id);
    await db`update work set lease_until = now() - interval '1 second'`;
    await freeAbandoned(db, { owner: hung.id + 1, keys: [] });
    expect((await workOf(db, "thing-1"))?.owner).toBeNull();
    await hung.close();
  });

  test("are kept by itself while it has a run, however late, and freed without a run", async () => {
    const owner = await newOwner();
    await item(db, "thing-1");
    await takeOne(db, owner.id);
    await db`update work set lease_until = now() - interval '1 second'`;
    await freeAbandoned(db, { owner: owner.id, keys: ["things/thing-1"] });
    expect((await workOf(db, "thing-1"))?.owner).toBe(owner.id);
    await freeAbandoned(db, { owner: owner.id, keys: [] });
    expect((await workOf(db, "thing-1"))?.owner).toBeNull();
    await owner.close();
  });

  test("are not given to two owners that free them at the same time", async () => {
    const owners = await Promise.all([newOwner(), newOwner(), newOwner()]);
    for (let round = 0; round < 20; round += 1) {
      await item(db, "thing-1");
      await db`update work set owner = 999999, lease_until = now() + interval '1 minute'`;
      const taken = await Promise.all(
        owners.map(async ({ id }) => {
          await freeAbandoned(db, { owner: id, keys: [] });
          return await claim(db, id, allOn(HOST), 1);
        }),
      );
      expect(taken.flat()).toHaveLength(1);
      await db`delete from work`;
      await db`delete from instances`;
    }
    for (const owner of owners) await owner.close();
  });

  test("are reported as lost to an owner that renews too late", async () => {
    await item(db, "thing-1");
    await item(db, "thing-2");
    await claim(db, 1, allOn(HOST), 2);
    await db`update work set owner = 2 where id = 'thing-2'`;
    const renewal = await renewLeases(db, 1, ["things/thing-1", "things/thing-2"]);
    expect(renewal).toEqual({ lost: ["things/thing-2"], locked: [] });
  });
});

describe("an observed state", () => {
  test.each([
    ["as-desired", false],
    ["converging", true],
    ["broken", true],
  ] as const)("%s requeues a settled resource: %s", async (convergence, isDue) => {
    await settle(db, "thing-1");
    await requeue(db, [{ instanceId: "thing-1", convergence }]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(isDue);
  });

  test.each([
    ["as-desired", true],
    ["converging", false],
    ["broken", false],
  ] as const)("%s requeues a waiting resource: %s", async (convergence, isDue) => {
    await item(db, "thing-1");
    await complete(db, 1, await takeOne(db, 1), FAILED);
    await requeue(db, [{ instanceId: "thing-1", convergence }]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(isDue);
  });

  test.each([
    ["as-desired", "given"],
    ["converging", "given"],
    ["broken", "outdated"],
  ] as const)(
    "%s during the run that makes it leaves what the run found %s",
    async (convergence, outcome) => {
      const job = await takeNew(db, "thing-1");
      await requeue(db, [{ instanceId: "thing-1", convergence }]);
      expect(await complete(db, 1, job, SETTLED)).toBe(outcome);
    },
  );

  test("of many instances requeues the resources that do not fit", async () => {
    await settle(db, "thing-1");
    await settle(db, "thing-2");
    const broken = ["thing-2", "thing-3"].map((id) => ({ instanceId: id, convergence: "broken" as const }));
    await requeue(db, [{ instanceId: "thing-1", convergence: "as-desired" }, ...broken]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(false);
    expect((await workOf(db, "thing-2"))?.isDue).toBe(true);
  });

  test("of a whole host requeues the resources whose instances it lacks", async () => {
    await settle(db, "thing-1");
    await settle(db, "thing-2");
    await requeueMissing(db, HOST, ["thing-1"]);
    expect((await workOf(db, "thing-1"))?.isDue).toBe(false);
    expect((await workOf(db, "thing-2"))?.isDue).toBe(true);
  });
});

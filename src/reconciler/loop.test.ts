// The loop against a real Postgres: one run a resource, whatever happens to the loop, its session or its leases.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { PublicError } from "../lib/errors.ts";
import type { Database } from "../store/database.ts";
import type { Loop, Outcome, Reconcile } from "./loop.ts";
import { enqueue } from "./queue.ts";
import { cutOwners, loopOf, queueStore, item, workOf } from "./test-support.ts";

const SETTLED: Outcome = { result: { settled: true } };

let db: Database;
let loops: Loop[] = [];

beforeAll(async () => {
  db = await queueStore();
  await db`create table seen (id text, note text)`;
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  await db`delete from work`;
  await db`delete from seen`;
});

afterEach(async () => {
  await Promise.all(loops.map((loop) => loop.stop()));
  loops = [];
});

async function start(reconcile: Reconcile, longMs?: number): Promise<Loop> {
  const loop = loopOf(db, reconcile, longMs === undefined ? {} : { longMs });
  loops.push(loop);
  await loop.start();
  return loop;
}

const isSettled = async (id: string) => (await workOf(db, id))?.isSettled === true;

/** A reconciler whose runs end when the test ends them. */
function held() {
  const runs: {
    id: string;
    signal: AbortSignal;
    end: (outcome: Outcome) => void;
    fail: (error: Error) => void;
  }[] = [];
  const reconcile: Reconcile = (id, signal) =>
    new Promise((resolve, reject) => runs.push({ id, signal, end: resolve, fail: reject }));
  return { runs, reconcile };
}

/** An outcome that asks for another run after a time. */
const again = (ms: number): Outcome => ({ result: { settled: true, againAt: new Date(Date.now() + ms) } });

/** An outcome that writes a note when it is committed. */
function note(text: string): Outcome {
  return {
    result: { settled: true },
    write: async (tx) => void (await tx`insert into seen (id, note) values ('thing-1', ${text})`),
  };
}

test("two loops with many changes never run a resource twice at a time", async () => {
  const running = new Set<string>();
  let most = 0;
  let overlaps = 0;
  const reconcile: Reconcile = async (id) => {
    if (running.has(id)) overlaps += 1;
    running.add(id);
    most = Math.max(most, running.size);
    await Bun.sleep(Math.random() * 5);
    running.delete(id);
    return SETTLED;
  };
  await start(reconcile);
  await start(reconcile);
  const ids = Array.from({ length: 20 }, (_, index) => `thing-${index}`);
  for (let round = 0; round < 10; round += 1) await Promise.all(ids.map((id) => item(db, id)));
  for (const id of ids) await until(`${id} is settled`, () => isSettled(id));
  expect(overlaps).toBe(0);
  expect(most).toBeGreaterThan(1);
});

test("a change during a run is reconciled after it, and only the later run writes the status", async () => {
  const { runs, reconcile } = held();
  await start(reconcile);
  await item(db, "thing-1");
  await until("the first run is under way", () => runs.length === 1);
  await item(db, "thing-1");
  runs[0]?.end(note("outdated"));
  await until("the second run is under way", () => runs.length === 2);
  runs[1]?.end(note("current"));
  await until("it is settled", () => isSettled("thing-1"));
  expect([...(await db`select note from seen`)]).toEqual([{ note: "current" }]);
});

test("a failing resource is tried again later and later, and its public reason is kept", async () => {
  const startedAt: number[] = [];
  const last = Promise.withResolvers<Outcome>();
  await start(async () => {
    startedAt.push(performance.now());
    if (startedAt.length < 4) throw new Error("a secret of the inside");
    return await last.promise;
  });
  await item(db, "thing-1");
  await until("the last run is under way", () => startedAt.length === 4);
  expect((await workOf(db, "thing-1"))?.lastError).toBe("Pilvi failed; its log says why.");
  last.resolve(SETTLED);
  await until("it is settled", () => isSettled("thing-1"));
  const waits = startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0));
  // From half of the step to the whole of it: 50 to 100 ms, 100 to 200, 200 to 400.
  for (const [index, least] of [50, 100, 200].entries())
    expect(waits[index]).toBeGreaterThanOrEqual(least - 1);
  expect((await workOf(db, "thing-1"))?.lastError).toBeNull();
});

test("the leases of a process that died are taken over at the start of another process", async () => {
  await item(db, "thing-1");
  await db`update work set owner = 999999, lease_until = now() + interval '1 hour'`;
  await start(async () => SETTLED);
  await until("it is settled", () => isSettled("thing-1"));
});

test("a running loop takes over within seconds from a loop that dies", async () => {
  const { runs, reconcile } = held();
  const dying = await start(reconcile);
  await item(db, "thing-1");
  await until("the first is at it", () => runs.length === 1);
  await start(async () => SETTLED);
  runs[0]?.signal.addEventListener("abort", () => runs[0]?.fail(new Error("aborted")));
  await dying.stop();
  expect((await workOf(db, "thing-1"))?.lastError).toBeNull();
  await until("the second has done it", () => isSettled("thing-1"), 20_000);
});

test("a lost session aborts its runs, and a new session begins when they have ended", async () => {
  const { runs, reconcile } = held();
  await start(reconcile);
  await item(db, "thing-1");
  await until("a run is under way", () => runs.length === 1);
  await cutOwners(db);
  await until("the run is aborted", () => runs[0]?.signal.aborted === true);
  await item(db, "thing-1");
  // Only time can show that no further run begins.
  await Bun.sleep(200);
  expect(runs).toHaveLength(1);
  runs[0]?.end(note("late"));
  await until("another run is under way", () => runs.length === 2);
  expect(runs[1]?.signal.aborted).toBe(false);
  runs[1]?.end(SETTLED);
  await until("it is settled", () => isSettled("thing-1"));
  expect(await db`select from seen`).toHaveLength(0);
});

test("a run that lost its lease to another owner writes nothing", async () => {
  const { runs, reconcile } = held();
  await start(reconcile);
  await item(db, "thing-1");
  await until("a run is under way", () => runs.length === 1);
  await db`update work set owner = null, lease_until = null, run_at = 'infinity', deadline_at = null`;
  runs[0]?.end({
    result: "gone",
    write: async (tx) => void (await tx`insert into seen (id, note) values ('thing-1', 'late')`),
  });
  await item(db, "thing-2");
  await until("the loop goes on", () => runs.length === 2);
  runs[1]?.end(SETTLED);
  expect(await db`select from seen`).toHaveLength(0);
  expect(await isSettled("thing-1")).toBe(true);
});

test("work whose outcome the store refuses is tried again later and later, and says so", async () => {
  const startedAt: number[] = [];
  const failures: (string | null | undefined)[] = [];
  await start(async () => {
    failures.push((await workOf(db, "thing-1"))?.lastError);
    startedAt.push(performance.now());
    if (startedAt.length === 4) return SETTLED;
    return { result: "gone", write: async (tx) => void (await tx`select 1 / 0`) };
  });
  await item(db, "thing-1");
  await until("it is settled", () => isSettled("thing-1"));
  const waits = startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0));
  for (const [index, least] of [50, 100, 200].entries())
    expect(waits[index]).toBeGreaterThanOrEqual(least - 1);
  expect(failures).toEqual([null, ...Array(3).fill("Pilvi failed; its log says why.")]);
});

test("a reason with characters that the store does not take is kept without them", async () => {
  const { runs, reconcile } = held();
  await start(reconcile);
  await item(db, "thing-1");
  await until("a run is under way", () => runs.length === 1);
  runs[0]?.fail(new PublicError("It said \0 and \ud83d."));
  await until("another run is under way", () => runs.length === 2);
  expect((await workOf(db, "thing-1"))?.lastError).toBe("It said  and \ufffd.");
  runs[1]?.end(SETTLED);
  await until("it is settled", () => isSettled("thing-1"));
});

test("settled work with a time is claimed again at that time", async () => {
  const startedAt: number[] = [];
  await start(async () => {
    startedAt.push(Date.now());
    return startedAt.length < 3 ? again(300) : SETTLED;
  });
  await item(db, "thing-1");
  await until("it was looked at three times", () => startedAt.length === 3);
  await until("it is settled", () => isSettled("thing-1"));
  const waits = startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0));
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(300);
});

test("another loop requeues the settled and the running work of a loop that died", async () => {
  const dying = await start(async () => again(500));
  await item(db, "thing-1");
  await until("it is settled until later", async () => (await workOf(db, "thing-1"))?.owner === null);
  const { runs, reconcile } = held();
  const alsoDying = await start(reconcile);
  await dying.stop();
  await until("the second loop looks again", () => runs.length === 1, 20_000);
  runs[0]?.signal.addEventListener("abort", () => runs[0]?.fail(new Error("aborted")));
  await start(async () => SETTLED);
  await alsoDying.stop();
  await until("the third loop has looked again", () => isSettled("thing-1"), 20_000);
});

test("slow runs leave room for others", async () => {
  await start(async () => SETTLED);
  const ids = Array.from({ length: 40 }, (_, index) => `slow-${index}`);
  await db.begin(async (tx) => {
    for (const id of ids) await enqueue(tx, { kind: "slow-things", id, hostId: null, deadlineSeconds: 60 });
  });
  await until("all of them run", async () => {
    const rows = await db`select from work where kind = 'slow-things' and owner is not null`;
    return rows.length === ids.length;
  });
  await item(db, "thing-1");
  await until("another is settled", () => isSettled("thing-1"));
});

test("runs that turn out to be long leave room for others, up to a bound of all", async () => {
  const { runs, reconcile } = held();
  await start(reconcile, 1);
  const ids = Array.from({ length: 300 }, (_, index) => `thing-${index}`);
  await db.begin(async (tx) => {
    for (const id of ids) await enqueue(tx, { kind: "things", id, hostId: null, deadlineSeconds: 60 });
  });
  await until("as many run as may at all", () => runs.length === 256 + 32);
  runs[0]?.end(SETTLED);
  await until("another run has the free place", () => runs.length === 256 + 32 + 1);
  for (const run of runs) run.signal.addEventListener("abort", () => run.fail(new Error("aborted")));
});

test("the runs of organizations that share quotas leave room for others", async () => {
  const { runs, reconcile } = held();
  await db`
    insert into organizations (id, name, origin_id) values ('org-1', 'one', null), ('org-2', 'two', 'org-1')
    on conflict do nothing`;
  await start(reconcile, 1);
  await db.begin(async (tx) => {
    for (let number = 0; number < 300; number += 1)
      await enqueue(tx, { kind: "things", id: `many-${number}`, hostId: null, deadlineSeconds: 60 });
    await tx`update work set organization_id = case when id like '%0' then 'org-2' else 'org-1' end`;
  });
  await until("as many run as may of both organizations", () => runs.length >= 128);
  await item(db, "thing-1");
  await until("that of another runs", () => runs.some(({ id }) => id === "thing-1"));
  expect(runs.length).toBeLessThan(128 + 32 + 1);
  for (const { end } of runs.slice(0, 128)) end(SETTLED);
  await until("more of the first run", () => runs.length > 128 + 32 + 1);
  for (const run of runs) run.signal.addEventListener("abort", () => run.fail(new Error("aborted")));
});

test("a request that holds the lock of a work item does not deadlock with the writing of an outcome", async () => {
  await db`insert into seen (id, note) values ('thing-1', 'first')`;
  const { runs, reconcile } = held();
  await start(reconcile);
  await item(db, "thing-1");
  await until("a run is under way", () => runs.length === 1);
  await db.begin(async (tx) => {
    await tx`update work set run_at = now() where id = 'thing-1'`;
    runs[0]?.end(note("outdated"));
    await until("the run waits for the request", async () => {
      const rows = await db`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return rows.length > 0;
    });
    await tx`update seen set note = 'deleting' where id = 'thing-1'`;
  });
  await until("the news are looked at", () => runs.length === 2);
  runs[1]?.end(SETTLED);
  await until("it is settled", () => isSettled("thing-1"));
  expect([...(await db`select note from seen`)]).toEqual([{ note: "deleting" }]);
});

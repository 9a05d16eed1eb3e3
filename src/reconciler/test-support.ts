// The store, work items and sessions that tests of the queue and the loop share.
import { SQL } from "bun";
import { freshDatabase } from "../../tests/support/engines/postgres.ts";
import { createLog } from "../lib/log.ts";
import type { Database, Queryable } from "../store/database.ts";
import { Loop, type Reconcile } from "./loop.ts";
import { claim, complete, enqueue, OWNER_LOCK_CLASS, type ClaimedWork, type Job } from "./queue.ts";

export const HOST = "host-1";

/** A store of its own with the host of all test resources. */
export async function queueStore(): Promise<Database> {
  const db = await freshDatabase();
  await db`insert into hosts (id, name) values (${HOST}, 'test')`;
  return db;
}

/** Another pool of one connection to the same database. */
export function sessionOf(db: Database, onclose: () => void = () => {}): Database {
  return new SQL({ ...db.options, max: 1, onclose } as SQL.Options);
}

/** All work that is on the hosts or without a host. */
export const allOn = (...hostIds: string[]): ClaimedWork => ({ hostIds, kinds: { except: [] } });

/** Queues work on a resource of the kind `things`, which has an instance on the host unless the host is null. */
export async function item(db: Database, id: string, hostId: string | null = HOST): Promise<void> {
  await db.begin(async (tx) => {
    await enqueue(tx, { kind: "things", id, hostId, deadlineSeconds: 60 });
    if (hostId !== null) await addInstance(tx, id, id);
  });
}

/** Claims the work item that is due. */
export async function takeOne(db: Database, owner: number): Promise<Job> {
  const [job] = await claim(db, owner, allOn(HOST), 1);
  if (job === undefined) throw new Error("nothing was due");
  return job;
}

/** Queues work like `item`, and claims it. */
export async function takeNew(db: Database, id: string): Promise<Job> {
  await item(db, id);
  return await takeOne(db, 1);
}

/** Queues work like `item`, and has it found as desired. */
export async function settle(db: Database, id: string): Promise<void> {
  await item(db, id);
  await complete(db, 1, await takeOne(db, 1), { settled: true });
}

/** Adds an instance of a resource of the kind `things`. */
export async function addInstance(db: Queryable, id: string, resourceId: string): Promise<void> {
  await db`
    insert into instances (id, kind, resource_id, host_id) values (${id}, 'things', ${resourceId}, ${HOST})
    on conflict do nothing`;
}

const untilAborted: Reconcile = (_id, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

/** A loop for the kind `things`, and for `slow-things`, whose runs end with the loop only. */
export function loopOf(
  db: Database,
  reconcile: Reconcile,
  times: { longMs?: number; renewMs?: number } = {},
): Loop {
  return new Loop({
    db,
    openSession: (onClose) => sessionOf(db, onClose),
    hostIds: [HOST],
    reconcilers: new Map([
      ["things", reconcile],
      ["slow-things", untilAborted],
    ]),
    slowKinds: ["slow-things"],
    ...times,
    log: createLog("test", "silent"),
  });
}

/** A row of the queue. */
export interface WorkRow {
  owner: number | null;
  attempts: number;
  lastError: string | null;
  isDue: boolean;
  isSettled: boolean;
  retryMs: number | null;
}

/** The row of a resource, or undefined when it does not exist. */
export async function workOf(db: Queryable, id: string): Promise<WorkRow | undefined> {
  const [row] = await db<WorkRow[]>`
    select owner, attempts, last_error as "lastError", run_at <= now() as "isDue",
           deadline_at is null and run_at = 'infinity' as "isSettled",
           case when run_at < 'infinity' then extract(epoch from run_at - now())::float8 * 1000 end as "retryMs"
    from work where id = ${id}`;
  return row;
}

/** Ends the sessions that hold the locks of owners, as a restart of the store would. */
export async function cutOwners(db: Database): Promise<void> {
  await db`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = ${OWNER_LOCK_CLASS}
    and database = (select oid from pg_database where datname = current_database())`;
}

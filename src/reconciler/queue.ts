// The work queue: one row for each resource, leased to one owner at a time.
import { storableText } from "../lib/storable.ts";
import type { Database, Queryable, SqlFragment } from "../store/database.ts";
import { notify } from "../store/notifications.ts";

/** The class of the advisory locks of owners; the owner's id is the second number. */
export const OWNER_LOCK_CLASS = 7_458_002;

/** How long a lease lasts without being renewed, in seconds. */
export const LEASE_SECONDS = 30;

/** The longest pause that unsettled work asks for, in seconds. */
export const LONGEST_PAUSE_SECONDS = 30;

/** Unsettled work that rests for so much longer than that has its time from a wrong clock. */
const DISTANT_SECONDS = LONGEST_PAUSE_SECONDS + 60;

/** The shortest time after which settled work is reconciled again, when it asks for that. */
const SHORTEST_PAUSE_SECONDS = 0.1;

/** A resource to be reconciled. */
interface WorkItem {
  kind: string;
  id: string;
  /** The host that the work is done on; null for work without a host. */
  hostId: string | null;
  /** When the desired state should be reached, in seconds from now; later, the work counts as overdue. */
  deadlineSeconds: number;
}

/** A work item that an owner has claimed. */
export interface Job {
  kind: string;
  id: string;
  /** The number of this attempt at the present desired state, from 1. */
  attempts: number;
  deadlineAt: Date | null;
  /** The family of its organization: all organizations that share quotas have one family. Null for work of no organization. */
  familyId: string | null;
}

/**
 * Queues a resource in the transaction that changes its desired state. A resource that is being reconciled is
 * reconciled once more afterwards.
 */
export async function enqueue(tx: Queryable, item: WorkItem): Promise<void> {
  await tx`
    insert into work (kind, id, host_id, deadline_at)
    values (${item.kind}, ${item.id}, ${item.hostId}, now() + make_interval(secs => ${item.deadlineSeconds}))
    on conflict (kind, id) do update
    set run_at = now(), attempts = 0, last_error = null, deadline_at = excluded.deadline_at`;
  await notify(tx, "work", item.id);
}

/** How an observed state compares with the desired one: the same, on its way there, or broken after it was there. */
export type Convergence = "as-desired" | "converging" | "broken";

/** An instance, and whether its observed state is as desired. */
export interface ObservedInstance {
  instanceId: string;
  convergence: Convergence;
}

/** Requeues the resources of those instances whose observed state does not fit the recorded state. */
export async function requeue(db: Queryable, observed: readonly ObservedInstance[]): Promise<void> {
  // A row without a deadline is in its desired state. A run under way observes for itself, except for a break after
  // its look.
  const [first] = await makeDue(
    db,
    db`
      json_to_recordset(${JSON.stringify(observed)}::text::json) as seen ("instanceId" text, convergence text)
      join instances i on i.id = seen."instanceId" join work on work.kind = i.kind and work.id = i.resource_id
      where case
        when convergence = 'as-desired' then deadline_at is not null and owner is null
        when convergence = 'broken' then deadline_at is null or owner is not null
        else deadline_at is null end`,
  );
  if (first !== undefined) await notify(db, "work", first.id);
}

/** Requeues every settled resource with an instance on the host that is missing among the observed ids. */
export async function requeueMissing(db: Queryable, hostId: string, observedIds: string[]): Promise<void> {
  const rows = await makeDue(
    db,
    db`
      work where deadline_at is null and (kind, id) in (
        select kind, resource_id from instances
        where host_id = ${hostId} and not (id = any(${db.array(observedIds, "text")})))`,
  );
  if (rows.length > 0) await notify(db, "work", "");
}

/** Names a work item. */
export type Key = Pick<Job, "kind" | "id">;

/**
 * Makes work due. Other transactions lock several work items in orders of their own, so a statement never waits for an
 * item while it holds others: items that are locked come last, each in a statement of its own. An item that no longer
 * matches by then has one run more than it needs.
 * @param matching the tables and the condition of the work, as SQL.
 */
async function makeDue(db: Queryable, matching: SqlFragment): Promise<Key[]> {
  const rows = await db<(Key & { isDue: boolean })[]>`
    with matching as materialized (select distinct work.kind, work.id from ${matching}),
    free as materialized (
      select work.kind, work.id from matching join work using (kind, id) for no key update of work skip locked),
    due as (
      update work set run_at = now() from free where work.kind = free.kind and work.id = free.id
      returning work.kind, work.id)
    select kind, id, (kind, id) in (select kind, id from due) as "isDue" from matching`;
  for (const { kind, id } of rows.filter(({ isDue }) => !isDue))
    await db`update work set run_at = now() where kind = ${kind} and id = ${id}`;
  return rows;
}

/** A selection of work to claim. */
export interface ClaimedWork {
  /** On one of these hosts, or without a host. */
  hostIds: readonly string[];
  /** Of one of these kinds, or of any other kind. */
  kinds: { among: readonly string[] } | { except: readonly string[] };
  /** For no organization of these families. */
  crowded?: readonly string[];
}

/** Whether work is of one of the kinds, as SQL. */
function isOf(db: Database, kinds: ClaimedWork["kinds"]) {
  if ("among" in kinds) return db`kind = any(${db.array([...kinds.among], "text")})`;
  return db`kind <> all(${db.array([...kinds.except], "text")})`;
}

/** Whether work is on one of the hosts or without a host, and for no organization of a crowded family, as SQL. */
function isServed(db: Database, { hostIds, crowded = [] }: Pick<ClaimedWork, "hostIds" | "crowded">) {
  const isHere = db`(host_id is null or host_id = any(${db.array([...hostIds], "text")}))`;
  if (crowded.length === 0) return isHere;
  return db`${isHere} and (organization_id is null or organization_id not in (
    select id from organizations where family_id = any(${db.array([...crowded], "text")})))`;
}

/** Claims up to `limit` due work items for this owner. */
export async function claim(
  db: Database,
  owner: number,
  { kinds, ...served }: ClaimedWork,
  limit: number,
): Promise<Job[]> {
  // A subquery could run again for each row, which would claim more than `limit`; a materialized one runs once.
  return await db<Job[]>`
    with due as materialized (
      select kind, id from work
      where owner is null and run_at <= now() and ${isServed(db, served)} and ${isOf(db, kinds)}
      order by run_at limit ${limit} for no key update skip locked)
    update work
    set owner = ${owner}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
        attempts = attempts + 1, run_at = 'infinity'
    from due where work.kind = due.kind and work.id = due.id
    returning work.kind, work.id, attempts, deadline_at as "deadlineAt",
              (select family_id from organizations o where o.id = work.organization_id) as "familyId"`;
}

/** Milliseconds until the next resource is due, or null when no resource waits for a time. */
export async function nextDueMs(
  db: Database,
  served: Pick<ClaimedWork, "hostIds" | "crowded">,
): Promise<number | null> {
  const [row] = await db<{ ms: number | null }[]>`
    select (extract(epoch from min(run_at) - now()) * 1000)::float8 as ms from work
    where owner is null and run_at < 'infinity' and ${isServed(db, served)}`;
  return row?.ms ?? null;
}

/** Names a work item: a resource may have items of several kinds, all with its id. */
export function keyOf({ kind, id }: Key): string {
  return `${kind}/${id}`;
}

/**
 * Frees work whose owner is gone: its session lock is free, or it has not renewed in time. Work that another transaction
 * has locked is left for the next time.
 * @param mine the asking owner, which knows its own runs: its leases without a run are freed, and no others of its own.
 */
export async function freeAbandoned(db: Database, mine: { owner: number; keys: string[] }): Promise<void> {
  await db`
    with abandoned as materialized (
      select kind, id from work
      where owner is not null and case
        when owner = ${mine.owner} then not (kind || '/' || id = any(${db.array(mine.keys, "text")}))
        else lease_until < now() or not exists (
          select from pg_locks
          where locktype = 'advisory' and classid = ${OWNER_LOCK_CLASS} and objid = work.owner::oid
            and database = (select oid from pg_database where datname = current_database())) end
      for no key update skip locked)
    update work set owner = null, lease_until = null, run_at = now()
    from abandoned where work.kind = abandoned.kind and work.id = abandoned.id`;
}

/**
 * Makes unsettled work due whose time lies too far ahead: it was written while the clock was ahead, and would not come for
 * as long. Work that another transaction has locked is left for the next time.
 */
export async function freeDistant(db: Database): Promise<void> {
  await db`
    with distant as materialized (
      select kind, id from work
      where owner is null and deadline_at is not null and run_at < 'infinity'
        and run_at > now() + make_interval(secs => ${DISTANT_SECONDS})
      for no key update skip locked)
    update work set run_at = now()
    from distant where work.kind = distant.kind and work.id = distant.id`;
}

/** When settled work is due, as SQL; the shortest pause keeps a past time from an endless run. */
function againAt(tx: Queryable, at: Date | undefined) {
  if (at === undefined) return tx`'infinity'::timestamptz`;
  return tx`greatest(${at}::timestamptz, now() + make_interval(secs => ${SHORTEST_PAUSE_SECONDS}))`;
}

/** Whether a resource was queued again during its run; it may also be asked right after `complete`. */
export async function isQueuedAgain(db: Queryable, { kind, id }: Key): Promise<boolean> {
  // To queue it begins the attempts anew. So does `complete` when the work is settled, which then has no deadline.
  const rows = await db`
    select from work where kind = ${kind} and id = ${id} and attempts = 0 and deadline_at is not null`;
  return rows.length > 0;
}

/** How a run ended. */
export type ReconcileResult =
  | {
      settled: true;
      /** When the resource is due again, though nothing changed; each result says so anew. */
      againAt?: Date;
    }
  | { settled: false; retryMs: number; lastError: string | null; deadlineSeconds?: number }
  | "gone";

/**
 * Completes a work item, at the beginning of the transaction that writes the outcome: requests lock a resource's work
 * before its rows as well, so that no deadlock is possible.
 * @returns `lost` when another owner has the lease by now, and `outdated` when there was news during a run that found
 * everything as desired, so that the next run must write the status. In both cases the caller must write nothing.
 */
export async function complete(
  tx: Queryable,
  owner: number,
  job: Job,
  result: ReconcileResult,
): Promise<"given" | "outdated" | "lost"> {
  if (result === "gone") {
    const rows = await tx`
      delete from work where kind = ${job.kind} and id = ${job.id} and owner = ${owner} returning id`;
    return rows.length > 0 ? "given" : "lost";
  }
  if (result.settled) {
    // A change that arrived during the run has set run_at to a time, keeps its deadline, and is reconciled next.
    const [row] = await tx<{ isOutdated: boolean }[]>`
      with given as materialized (
        select kind, id, run_at < 'infinity' as outdated from work
        where kind = ${job.kind} and id = ${job.id} and owner = ${owner} for no key update)
      update work
      set owner = null, lease_until = null, attempts = 0, last_error = null,
          run_at = case when outdated then run_at else ${againAt(tx, result.againAt)} end,
          deadline_at = case when outdated then deadline_at end
      from given where work.kind = given.kind and work.id = given.id
      returning outdated as "isOutdated"`;
    if (row === undefined) return "lost";
    return row.isOutdated ? "outdated" : "given";
  }
  const lastError = result.lastError === null ? null : storableText(result.lastError);
  const rows = await tx`
    update work
    set owner = null, lease_until = null, last_error = ${lastError},
        run_at = least(run_at, now() + make_interval(secs => ${result.retryMs / 1000})),
        deadline_at = coalesce(deadline_at, now() + make_interval(secs => ${result.deadlineSeconds ?? 60}))
    where kind = ${job.kind} and id = ${job.id} and owner = ${owner} returning id`;
  return rows.length > 0 ? "given" : "lost";
}

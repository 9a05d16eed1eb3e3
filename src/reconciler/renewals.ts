// Keeps the leases of runs that are under way.
import type { Database, SqlFragment } from "../store/database.ts";
import { keyOf, LEASE_SECONDS, type Key } from "./queue.ts";

/** The keys of items whose runs are under way, by what became of their leases. */
interface Renewal {
  /** Another owner may have them, so that their runs have to end. */
  lost: string[];
  /** Another transaction has them locked, and nobody takes them meanwhile. */
  locked: string[];
}

/** Renews the leases of the runs of this owner, and skips items that another transaction has locked. */
export async function renewLeases(db: Database, owner: number, keys: string[]): Promise<Renewal> {
  const kept = new Set(await renew(db, owner, keys, db`skip locked`));
  const rest = keys.filter((key) => !kept.has(key));
  if (rest.length === 0) return { lost: [], locked: [] };
  const rows = await db<Key[]>`
    select kind, id from work where owner = ${owner} and kind || '/' || id = any(${db.array(rest, "text")})`;
  const { lost = [], locked = [] } = Object.groupBy(rest, (key) =>
    rows.some((row) => keyOf(row) === key) ? "locked" : "lost",
  );
  return { lost, locked };
}

/**
 * Keeps the lease of a run whose item another transaction has locked, once that has ended. As in `makeDue` of the queue,
 * it is waited for while nothing is held.
 * @returns false when the lease was lost.
 */
export async function renewLockedLease(db: Database, owner: number, key: string): Promise<boolean> {
  return (await renew(db, owner, [key], db``)).length > 0;
}

async function renew(db: Database, owner: number, keys: string[], waiting: SqlFragment): Promise<string[]> {
  const rows = await db<Key[]>`
    with mine as materialized (
      select kind, id from work
      where owner = ${owner} and kind || '/' || id = any(${db.array(keys, "text")})
      for no key update ${waiting})
    update work set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    from mine where work.kind = mine.kind and work.id = mine.id returning work.kind, work.id`;
  return rows.map(keyOf);
}

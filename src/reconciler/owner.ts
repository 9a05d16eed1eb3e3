// The identity under which this process leases work. It lives as long as its session of the store does.
import type { Database } from "../store/database.ts";
import { OWNER_LOCK_CLASS } from "./queue.ts";

/** A live identity; when its session is lost, other owners may take over its leases. */
export interface Owner {
  id: number;
  /** Resolves when the session is lost; nothing may be written under this identity any more. */
  lost: Promise<void>;
  close(): Promise<void>;
}

/**
 * Takes a new identity and a session lock for it, which the store drops as soon as this process is gone.
 * @param open opens a pool of one connection for this identity alone.
 */
export async function becomeOwner(open: (onClose: () => void) => Database): Promise<Owner> {
  const lost = Promise.withResolvers<void>();
  const db = open(() => lost.resolve());
  try {
    const [row] = await db<{ id: number }[]>`select nextval('work_owner')::integer as id`;
    if (row === undefined) throw new Error("the store gave no owner id");
    await db`select pg_advisory_lock(${OWNER_LOCK_CLASS}, ${row.id})`;
    return { id: row.id, lost: lost.promise, close: () => db.close() };
  } catch (error) {
    await db.close();
    throw error;
  }
}

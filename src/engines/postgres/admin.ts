// The administrator's connection to a running Postgres.
import { SQL } from "bun";
import type { PostgresSpec } from "../../drivers/driver.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { LockTimeout, type EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";

/** The host's own database, in which nobody else may make anything. */
export const OWN_DATABASE = "postgres";

/** Whether the administrator can log in and ask something. */
export async function isReady(context: EngineContext<PostgresSpec>): Promise<boolean> {
  try {
    await asAdmin(context, OWN_DATABASE, (db) => db`select 1`);
    return true;
  } catch {
    // Starting up, shutting down or gone: in each case not ready.
    return false;
  }
}

/** @throws when it cannot be had. */
export async function asAdmin<T>(
  context: EngineContext<PostgresSpec>,
  database: string,
  work: (db: SQL) => Promise<T>,
): Promise<T> {
  return await withSocket(context.paths.socket, async (path) => {
    const login = { adapter: "postgres", path, username: ADMIN_NAME, password: "", database } as const;
    const db = new SQL({ ...login, max: 1, connectionTimeout: 5 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });
}

const LOCK_NOT_AVAILABLE = "55P03";

/** Names the client's lock to the owner when waiting for it took too long; any other error stays as it is. */
export function heldUpOr(error: unknown): unknown {
  const isHeldUp = error instanceof SQL.PostgresError && error.errno === LOCK_NOT_AVAILABLE;
  return isHeldUp ? new LockTimeout(error) : error;
}

/** A name as it stands in a statement. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as it stands in a statement. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

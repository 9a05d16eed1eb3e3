// The administrator's connection to a running Postgres.
import { SQL } from "bun";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { LockTimeout, type EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";

/** The host's own database, in which no customer may create anything. */
export const OWN_DATABASE = "postgres";

/** Whether the administrator can log in and query. */
export async function isReady(context: EngineContext<PostgresSpec>): Promise<boolean> {
  try {
    await asAdmin(context, OWN_DATABASE, (db) => db`select 1`);
    return true;
  } catch {
    // Starting up, shutting down or gone: in each case not ready.
    return false;
  }
}

/** Runs `work` as the administrator. @throws when the connection cannot be made. */
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

/** Turns a lock wait that took too long into a `LockTimeout` for the owner; any other error stays as it is. */
export function heldUpOr(error: unknown): unknown {
  const isHeldUp = error instanceof SQL.PostgresError && error.errno === LOCK_NOT_AVAILABLE;
  return isHeldUp ? new LockTimeout(error) : error;
}

/** Quotes a name for a statement. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text for a statement. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

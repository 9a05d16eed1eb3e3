// The administrator's connection to a running Postgres.
import { SQL } from "bun";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { LockTimeout } from "../engine-errors.ts";
import type { EngineContext } from "../engine.ts";
import { INSPECTION_TIMEOUT_MS } from "../inspection.ts";
import { ADMIN_NAME, SAFE_SEARCH_PATH } from "./config.ts";

/** The host's own database, in which no customer may create anything. */
export const OWN_DATABASE = "postgres";

/** How long an inspection waits for a lock. */
const LOCK_TIMEOUT_MS = 1_000;

/** Where the administrator reaches a Postgres. */
interface AdminPlace {
  paths: { socket: string };
}

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

/**
 * Runs `work` as the administrator.
 * @param timeoutMs closes the connection when it is over, so that `work` fails; left out, `work` may take any time.
 * @throws when the connection cannot be made.
 */
export async function asAdmin<T>(
  context: AdminPlace,
  database: string,
  work: (db: SQL) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  return await withSocket(context.paths.socket, async (path) => {
    const login = { adapter: "postgres", path, username: ADMIN_NAME, password: "", database } as const;
    // What a session begins with goes before the settings of a database, which a customer may change.
    const connection = { search_path: SAFE_SEARCH_PATH };
    const db = new SQL({ ...login, connection, max: 1, connectionTimeout: 5 });
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => void db.close({ timeout: 0 }), timeoutMs);
    try {
      return await work(db);
    } finally {
      clearTimeout(timer);
      await db.close();
    }
  });
}

/** A session of the administrator that stays open. */
interface AdminSession {
  db: SQL;
  /** May be called again, and never throws. */
  close(): Promise<void>;
}

/** Opens a session that lasts until it is closed. @throws when the connection cannot be made. */
export async function holdAdmin(context: AdminPlace, database: string): Promise<AdminSession> {
  const opened = Promise.withResolvers<SQL>();
  const over = Promise.withResolvers<void>();
  const held = asAdmin(context, database, async (db) => {
    await db`select 1`;
    opened.resolve(db);
    await over.promise;
  }).catch(opened.reject);
  const close = async () => {
    over.resolve();
    await held;
  };
  return { db: await opened.promise, close };
}

/**
 * Runs `work` in the host's own database for a bounded time, whatever the engine or a customer's lock waits for.
 * @throws when the connection cannot be made, or the time is over.
 */
export async function inspect<T>(
  context: EngineContext<PostgresSpec>,
  work: (db: SQL) => Promise<T>,
): Promise<T> {
  const bounds = `set statement_timeout = ${INSPECTION_TIMEOUT_MS}; set lock_timeout = ${LOCK_TIMEOUT_MS}`;
  const bounded = async (db: SQL) => {
    await db.unsafe(bounds).simple();
    return await work(db);
  };
  return await asAdmin(context, OWN_DATABASE, bounded, INSPECTION_TIMEOUT_MS);
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

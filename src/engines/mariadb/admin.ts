// The administrator's connection to a running MariaDB.
import { SQL } from "bun";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { LockTimeout } from "../engine-errors.ts";
import type { EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";

/** Whether the administrator can log in and query. */
export async function isReady(context: EngineContext<MysqlSpec>): Promise<boolean> {
  try {
    await asAdmin(context, (db) => db`select 1`);
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
  context: EngineContext<MysqlSpec>,
  work: (db: SQL) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  return await asAdminAt(context.paths.socket, work, timeoutMs);
}

/** See `asAdmin`. @param socket the unix socket of the server. */
export async function asAdminAt<T>(
  socket: string,
  work: (db: SQL) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  const username = hostUser("MariaDB");
  return await withSocket(socket, async (path) => {
    const login = { adapter: "mysql", path, username, password: "", database: "mysql" } as const;
    const db = new SQL({ ...login, max: 1, connectionTimeout: 5 });
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

const LOCK_WAIT_IS_OVER = 1205;

/** Turns a lock wait that took too long into a `LockTimeout` for the owner; any other error stays as it is. */
export function heldUpOr(error: unknown): unknown {
  const isHeldUp = error instanceof SQL.MySQLError && error.errno === LOCK_WAIT_IS_OVER;
  return isHeldUp ? new LockTimeout(error) : error;
}

/** Quotes a name for a statement. */
export function identifier(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** Quotes a text for a statement. */
export function literal(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

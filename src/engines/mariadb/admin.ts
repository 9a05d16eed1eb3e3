// What the host does inside a running MariaDB: users, their rights, and databases as the spec says.
import { SQL } from "bun";
import type { MysqlSpec } from "../../drivers/driver.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { HeldUp, type EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";

/**
 * What a customer may do beyond its own databases. Rights on everything would include the system tables, and whoever may
 * write those can make itself anything.
 */
const GLOBAL_RIGHTS = "process, show databases, binlog monitor";

/** How long a client's lock is waited for, in seconds: everything else that is to be done to the cluster waits as well. */
const LOCK_WAIT_SECONDS = 5;
const LOCK_WAIT_IS_OVER = 1205;

/** Whether the administrator can log in and ask something. */
export async function isReady(context: EngineContext<MysqlSpec>): Promise<boolean> {
  try {
    await asAdmin(context, (db) => db`select 1`);
    return true;
  } catch {
    // Starting up, shutting down or gone: in each case not ready.
    return false;
  }
}

/** Makes users and databases that are missing, sets passwords and rights, and drops databases that are to be gone. @throws HeldUp */
export async function applySpec(context: EngineContext<MysqlSpec>): Promise<void> {
  try {
    await asAdmin(context, (db) => bringTo(context.spec, db));
  } catch (error) {
    const isHeldUp = error instanceof SQL.MySQLError && error.errno === LOCK_WAIT_IS_OVER;
    throw isHeldUp ? new HeldUp(error) : error;
  }
}

async function bringTo({ users, databases }: MysqlSpec, db: SQL): Promise<void> {
  for (const timeout of ["lock_wait_timeout", "innodb_lock_wait_timeout"])
    await db.unsafe(`set session ${timeout} = ${LOCK_WAIT_SECONDS}`);
  for (const user of users) {
    const account = `${literal(user.name)}@'%'`;
    const identity = `identified via mysql_native_password using ${literal(user.verifier)}`;
    await db.unsafe(`create user if not exists ${account} ${identity}`);
    await db.unsafe(`alter user ${account} ${identity}`);
    await db.unsafe(`grant ${GLOBAL_RIGHTS} on *.* to ${account}`);
  }
  for (const { name, owner, wish } of databases) {
    if (wish === "absent") {
      await endSessions(db, name);
      await db.unsafe(`drop database if exists ${identifier(name)}`);
      continue;
    }
    await db.unsafe(`create database if not exists ${identifier(name)}`);
    await db.unsafe(`grant all privileges on ${pattern(name)}.* to ${literal(owner)}@'%'`);
  }
}

/** Ends the sessions in a database that is to be gone: what they have begun in it would keep it. */
async function endSessions(db: SQL, database: string): Promise<void> {
  const sessions = await db<{ id: number }[]>`
    select id from information_schema.processlist where db = ${database} and id <> connection_id()`;
  // One that ends by itself meanwhile is not known any more, and another cannot have its number.
  for (const { id } of sessions) await db.unsafe(`kill ${id}`).catch(() => undefined);
}

/** @throws when it cannot be had. */
export async function asAdmin<T>(
  context: EngineContext<MysqlSpec>,
  work: (db: SQL) => Promise<T>,
): Promise<T> {
  const username = hostUser("MariaDB");
  return await withSocket(context.paths.socket, async (path) => {
    const login = { adapter: "mysql", path, username, password: "", database: "mysql" } as const;
    const db = new SQL({ ...login, max: 1, connectionTimeout: 5 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });
}

function identifier(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** In a grant a database's name is a pattern, in which an underscore would stand for any character. */
function pattern(name: string): string {
  return identifier(name.replaceAll("\\", "\\\\").replaceAll("_", "\\_").replaceAll("%", "\\%"));
}

function literal(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

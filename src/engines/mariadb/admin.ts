// What the host does inside a running MariaDB: users, their rights, and databases as the spec says.
import { SQL } from "bun";
import type { MysqlSpec } from "../../drivers/driver.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";

/**
 * What a customer may do beyond its own databases. Rights on everything would include the system tables, and whoever may
 * write those can make itself anything.
 */
const GLOBAL_RIGHTS = "process, show databases, binlog monitor";

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

/** Makes users and databases that are missing, sets passwords and rights, and drops databases that are to be gone. */
export async function applySpec(context: EngineContext<MysqlSpec>): Promise<void> {
  const { users, databases } = context.spec;
  await asAdmin(context, async (db) => {
    for (const user of users) {
      const account = `${literal(user.name)}@'%'`;
      const identity = `identified via mysql_native_password using ${literal(user.verifier)}`;
      await db.unsafe(`create user if not exists ${account} ${identity}`);
      await db.unsafe(`alter user ${account} ${identity}`);
      await db.unsafe(`grant ${GLOBAL_RIGHTS} on *.* to ${account}`);
    }
    for (const { name, owner, wish } of databases) {
      if (wish === "absent") {
        await db.unsafe(`drop database if exists ${identifier(name)}`);
        continue;
      }
      await db.unsafe(`create database if not exists ${identifier(name)}`);
      await db.unsafe(`grant all privileges on ${pattern(name)}.* to ${literal(owner)}@'%'`);
    }
  });
}

async function asAdmin<T>(context: EngineContext<MysqlSpec>, work: (db: SQL) => Promise<T>): Promise<T> {
  const db = new SQL({
    adapter: "mysql",
    path: socketAddress(context.paths.socket),
    username: hostUser("MariaDB"),
    password: "",
    database: "mysql",
    max: 1,
    connectionTimeout: 5,
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
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

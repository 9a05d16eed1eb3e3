// What the host does inside a running Postgres: roles and databases as the spec says.
import { SQL } from "bun";
import type { PostgresSpec } from "../../drivers/driver.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./initdb.ts";

/** Whether the administrator can log in and ask something. */
export async function isReady(context: EngineContext<PostgresSpec>): Promise<boolean> {
  try {
    await asAdmin(context, (db) => db`select 1`);
    return true;
  } catch {
    // Starting up, shutting down or gone: in each case not ready.
    return false;
  }
}

/** Makes every role and database of the spec that is missing, and sets each role's verifier. */
export async function applySpec(context: EngineContext<PostgresSpec>): Promise<void> {
  const { users, databases } = context.spec;
  await asAdmin(context, async (db) => {
    for (const user of users) {
      const [role] = await db`select from pg_roles where rolname = ${user.name}`;
      const verb = role === undefined ? "create" : "alter";
      await db.unsafe(`${verb} role ${identifier(user.name)} login password ${literal(user.verifier)}`);
    }
    for (const { name, owner } of databases) {
      const [database] = await db`select from pg_database where datname = ${name}`;
      if (database !== undefined) continue;
      await db.unsafe(`create database ${identifier(name)} owner ${identifier(owner)}`);
    }
  });
}

async function asAdmin<T>(context: EngineContext<PostgresSpec>, work: (db: SQL) => Promise<T>): Promise<T> {
  const db = new SQL({
    adapter: "postgres",
    path: socketAddress(context.paths.socket),
    username: ADMIN_NAME,
    password: context.adminPassword,
    database: "postgres",
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
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

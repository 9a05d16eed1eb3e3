// What the host does inside a running Postgres: roles and databases as the spec says.
import { SQL } from "bun";
import type { PostgresSpec } from "../../drivers/driver.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";

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

/** Makes roles able to log in, databases that are missing, and drops those that are to be gone. */
export async function applySpec(context: EngineContext<PostgresSpec>): Promise<void> {
  const { users, databases } = context.spec;
  await asAdmin(context, async (db) => {
    const present = await namesIn(db);
    // Roles are set at every start, so that nothing is lost when the machine ends before this is on its disk.
    await db`set synchronous_commit = off`;
    for (const user of users) {
      const verb = present.roles.has(user.name) ? "alter" : "create";
      await db.unsafe(`${verb} role ${identifier(user.name)} login password ${literal(user.verifier)}`);
    }
    const wanting = databases.filter(
      ({ name, wish }) => present.databases.has(name) !== (wish === "present"),
    );
    if (wanting.length > 0) await db`set synchronous_commit = on`;
    for (const { name, owner, wish } of wanting) {
      await db.unsafe(
        wish === "present"
          ? `create database ${identifier(name)} owner ${identifier(owner)}`
          : `drop database ${identifier(name)} with (force)`,
      );
    }
  });
}

async function namesIn(db: SQL): Promise<{ roles: Set<string>; databases: Set<string> }> {
  const rows = await db<{ name: string; isRole: boolean }[]>`
    select rolname as name, true as "isRole" from pg_roles
    union all select datname, false from pg_database`;
  const of = (isRole: boolean) =>
    new Set(rows.filter((row) => row.isRole === isRole).map(({ name }) => name));
  return { roles: of(true), databases: of(false) };
}

async function asAdmin<T>(context: EngineContext<PostgresSpec>, work: (db: SQL) => Promise<T>): Promise<T> {
  const db = new SQL({
    adapter: "postgres",
    path: socketAddress(context.paths.socket),
    username: ADMIN_NAME,
    password: "",
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

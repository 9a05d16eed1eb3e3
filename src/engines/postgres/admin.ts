// What the host does inside a running Postgres: roles and databases as the spec says.
import { SQL } from "bun";
import type { PostgresSpec } from "../../drivers/driver.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { HeldUp, type EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";
import { CUSTOMER_NAME, FIRST_DATABASE } from "./initdb.ts";

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

/** What the host logs into when nobody else has been in the cluster yet: the customer, who comes next, finds its caches warm. */
const NEW_DATABASE = FIRST_DATABASE;

/** The names of what first data holds. */
const FIRST_NAMES: Names = { roles: new Set([CUSTOMER_NAME]), databases: new Set([FIRST_DATABASE]) };

interface Names {
  roles: Set<string>;
  databases: Set<string>;
}

/** How long a client's lock is waited for: everything else that is to be done to the cluster waits as well. */
const LOCK_TIMEOUT = "5s";
const LOCK_NOT_AVAILABLE = "55P03";

/** Makes roles able to log in, databases that are missing, and drops those that are to be gone. @throws HeldUp */
export async function applySpec(context: EngineContext<PostgresSpec>, isDataNew: boolean): Promise<void> {
  const { spec } = context;
  // What one is logged into cannot be dropped.
  const isFirstKept = spec.databases.some(({ name, wish }) => name === FIRST_DATABASE && wish === "present");
  const database = isDataNew && isFirstKept ? NEW_DATABASE : OWN_DATABASE;
  try {
    await asAdmin(context, database, (db) => bringTo(spec, db, isDataNew));
  } catch (error) {
    const isHeldUp = error instanceof SQL.PostgresError && error.errno === LOCK_NOT_AVAILABLE;
    throw isHeldUp ? new HeldUp(error) : error;
  }
}

async function bringTo({ users, databases }: PostgresSpec, db: SQL, isDataNew: boolean): Promise<void> {
  const present = isDataNew ? FIRST_NAMES : await namesIn(db, { users, databases });
  const logins = users.map(({ name, verifier }) => {
    const verb = present.roles.has(name) ? "alter" : "create";
    return `${verb} role ${identifier(name)} login password ${literal(verifier)}`;
  });
  // Roles are set at every start, so that nothing is lost when the machine ends before this is on its disk.
  const settings = [`set lock_timeout = '${LOCK_TIMEOUT}'`, "set local synchronous_commit = off"];
  await db.unsafe([...settings, ...logins].join(";")).simple();
  for (const { name, owner, wish } of databases) {
    if (present.databases.has(name) === (wish === "present")) continue;
    await db.unsafe(
      wish === "present"
        ? `create database ${identifier(name)} owner ${identifier(owner)}`
        : `drop database ${identifier(name)} with (force)`,
    );
  }
}

/** Which of the names of the spec are there. Of others there may be any number, which are not read. */
async function namesIn(
  db: SQL,
  { users, databases }: Pick<PostgresSpec, "users" | "databases">,
): Promise<Names> {
  const roleNames = JSON.stringify(users.map(({ name }) => name));
  const databaseNames = JSON.stringify(databases.map(({ name }) => name));
  const rows = await db<{ name: string; isRole: boolean }[]>`
    select rolname as name, true as "isRole" from pg_roles
    where rolname::text in (select json_array_elements_text(${roleNames}::text::json))
    union all select datname, false from pg_database
    where datname::text in (select json_array_elements_text(${databaseNames}::text::json))`;
  const of = (isRole: boolean) =>
    new Set(rows.filter((row) => row.isRole === isRole).map(({ name }) => name));
  return { roles: of(true), databases: of(false) };
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

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

// Makes and drops databases of a running Postgres, and never touches those that the API did not make.
import { SQL } from "bun";
import type { DatabaseSpec, PostgresSpec } from "../../contracts/instance-spec.ts";
import type { DatabaseFault, DataState, MadeDatabases } from "../engine.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { faultOf, isInTheWay } from "../database-faults.ts";
import { heldUpOr, identifier } from "./admin.ts";
import { ADMIN_NAME, LOGIN_BREAKER, MAX_SETTINGS_BYTES } from "./config.ts";
import { FIRST_DATABASE } from "./initdb.ts";

/**
 * A database as found. A database of the administrator is half made or half dropped by the host: no customer can give a
 * database to the administrator, so that mark holds however often the host is killed.
 */
interface Found {
  name: string;
  isAdministrators: boolean;
  takesConnections: boolean;
  /** -1 is no limit, -2 an unfinished drop. */
  connectionLimit: number;
  /** Whether its owner may connect to it. */
  isOpen: boolean;
  /** Whether a setting of the database makes every login fail. */
  hasLoginBreaker: boolean;
}

const UNFINISHED_DROP = -2;

/** Brings each database to its desired state, even when another database fails. @throws when the engine is gone. */
export async function bringDatabasesTo(
  { databases }: PostgresSpec,
  db: SQL,
  { isNew, made }: DataState,
): Promise<DatabaseFault[]> {
  const found = isNew ? [FIRST_FOUND] : await databasesIn(databases, db);
  const faults: DatabaseFault[] = [];
  for (const database of databases) {
    try {
      const present = found.find(({ name }) => name === database.name);
      if (database.desiredState === "present") await makeSure(db, database, present, made);
      else await drop(db, database.name, present, made);
    } catch (error) {
      if (isGone(error)) throw error;
      faults.push(faultOf(database, heldUpOr(error)));
    }
  }
  return faults;
}

const FIRST_FOUND: Found = {
  name: FIRST_DATABASE,
  isAdministrators: false,
  takesConnections: true,
  connectionLimit: -1,
  isOpen: true,
  hasLoginBreaker: false,
};

/** The databases of the spec that exist. */
async function databasesIn(databases: DatabaseSpec[], db: SQL): Promise<Found[]> {
  const names = databases.map(({ name }) => name);
  const owners = databases.map(({ owner }) => owner);
  return await db<Found[]>`
    select d.datname as name, r.rolname = ${ADMIN_NAME} as "isAdministrators",
           d.datallowconn as "takesConnections", d.datconnlimit as "connectionLimit",
           has_database_privilege(w.owner, d.oid, 'connect') as "isOpen",
           exists (
             select from pg_db_role_setting s
             where s.setdatabase = d.oid and case when pg_column_size(s.setconfig) <= ${MAX_SETTINGS_BYTES}
               then s.setconfig::text like ${`%${LOGIN_BREAKER}=%`} else false end) as "hasLoginBreaker"
    from unnest(${db.array(names, "text")}, ${db.array(owners, "text")}) as w (name, owner)
    join pg_database d on d.datname = w.name join pg_roles r on r.oid = d.datdba`;
}

async function makeSure(
  db: SQL,
  database: DatabaseSpec,
  found: Found | undefined,
  made: MadeDatabases,
): Promise<void> {
  const { name, owner } = database;
  if (found !== undefined && !isOurs(found, made)) throw isInTheWay(name);
  const isUnfinished = found?.connectionLimit === UNFINISHED_DROP;
  if (isUnfinished) await db.unsafe(`drop database ${identifier(name)} with (force)`);
  const isMissing = found === undefined || isUnfinished;
  // An empty database in its place would pass for the restored one.
  if (isMissing && made.isOfOrigin()) return await made.remove(name);
  // Nobody can connect to `template0`, while a client in `template1` would block the creation.
  if (isMissing) await db.unsafe(`create database ${identifier(name)} template template0`);
  await failpoint("host.database.created");
  if (!made.has(name)) await made.add(name);
  await failpoint("host.database.recorded");
  if (isMissing || found.isAdministrators)
    await db.unsafe(`alter database ${identifier(name)} owner to ${identifier(owner)}`);
  else for (const statement of openings(database, found)) await db.unsafe(statement);
}

/** Statements that let the owner into the database again. A limit above zero is the owner's own choice. */
function openings({ name, owner }: DatabaseSpec, found: Found): string[] {
  const [database, role] = [identifier(name), identifier(owner)];
  const isShut = !found.takesConnections || found.connectionLimit === 0;
  return [
    ...(isShut ? [`alter database ${database} with allow_connections true connection limit -1`] : []),
    ...(found.isOpen ? [] : [`grant connect on database ${database} to ${role}`]),
    ...(found.hasLoginBreaker
      ? [
          `alter database ${database} reset ${LOGIN_BREAKER}`,
          `alter role ${role} in database ${database} reset ${LOGIN_BREAKER}`,
        ]
      : []),
  ];
}

async function drop(db: SQL, name: string, found: Found | undefined, made: MadeDatabases): Promise<void> {
  if (found !== undefined && isOurs(found, made)) {
    // From here on the owner marks it as the host's, and no customer can block the drop.
    await db.unsafe(`alter database ${identifier(name)} owner to ${identifier(ADMIN_NAME)}`);
    await db.unsafe(`alter database ${identifier(name)} with is_template false`);
    await failpoint("host.database.closed");
    // A customer may make a database of the same name after the drop, which must not pass for this database.
    await made.remove(name);
    await failpoint("host.database.forgotten");
    await db.unsafe(`drop database ${identifier(name)} with (force)`);
  } else if (made.has(name)) await made.remove(name);
}

function isOurs({ name, isAdministrators }: Found, made: MadeDatabases): boolean {
  return isAdministrators || made.has(name);
}

/**
 * Whether the connection was lost (no code of SQL, or class 08) or the server ends (57P), instead of a failed
 * statement.
 */
function isGone(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return error instanceof Error && "code" in error;
  return error.errno === undefined || /^(?:08|57P)/.test(error.errno);
}

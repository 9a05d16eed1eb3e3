// Makes and drops databases of a running MariaDB, and never touches those that the API did not make.
import { SQL } from "bun";
import type { DatabaseSpec, MysqlSpec } from "../../contracts/instance-spec.ts";
import type { DatabaseFault, MadeDatabases } from "../engine.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { faultOf, isInTheWay } from "../database-faults.ts";
import { heldUpOr, identifier, literal } from "./admin.ts";

/**
 * A database as found. A database without a grant to its owner is half made or half dropped by the host: a customer can
 * make only databases that it has a grant for, so that mark holds however often the host is killed.
 */
interface Found {
  isThere: boolean;
  isGranted: boolean;
}

/** Brings each database to its desired state, even when another database fails. @throws when the engine is gone. */
export async function bringDatabasesTo(
  { databases }: MysqlSpec,
  db: SQL,
  made: MadeDatabases,
): Promise<DatabaseFault[]> {
  const faults: DatabaseFault[] = [];
  for (const database of databases) {
    try {
      const found = await find(db, database);
      await (database.desiredState === "present"
        ? makeSure(db, database, found, made)
        : drop(db, database, found, made));
    } catch (error) {
      if (isGone(error)) throw error;
      faults.push(faultOf(database, heldUpOr(error)));
    }
  }
  return faults;
}

async function find(db: SQL, { name, owner }: DatabaseSpec): Promise<Found> {
  const [found] = await db<{ there: number; granted: number }[]>`
    select exists(select 1 from information_schema.schemata where schema_name = ${name}) as there,
           exists(select 1 from mysql.db where user = ${owner} and host = '%' and db = ${escaped(name)}) as granted`;
  return { isThere: Boolean(found?.there), isGranted: Boolean(found?.granted) };
}

async function makeSure(
  db: SQL,
  database: DatabaseSpec,
  { isThere, isGranted }: Found,
  made: MadeDatabases,
): Promise<void> {
  const { name } = database;
  const isMade = made.has(name);
  if (!isThere && made.isOfOrigin()) {
    // An empty database in its place would pass for the restored one.
    if (isGranted) await revoke(db, database);
    return await made.remove(name);
  }
  if (isThere && isGranted && !isMade) throw isInTheWay(name);
  if (!isThere) {
    // With the grant of an earlier database, a customer could make a database of this name just now.
    if (isGranted && !isMade) await revoke(db, database);
    await db.unsafe(`create database${isMade ? " if not exists" : ""} ${identifier(name)}`);
  }
  await failpoint("host.database.created");
  if (!isMade) await made.add(name);
  await failpoint("host.database.recorded");
  await db.unsafe(`grant all privileges on ${pattern(name)}.* to ${account(database)}`);
}

async function drop(
  db: SQL,
  database: DatabaseSpec,
  { isThere, isGranted }: Found,
  made: MadeDatabases,
): Promise<void> {
  const { name } = database;
  if (isThere && isGranted && !made.has(name)) return;
  // From here on the missing grant marks it as the host's, and no customer can make another database of its name.
  if (isGranted) await revoke(db, database);
  await failpoint("host.database.closed");
  // A session keeps the rights that it had when it chose the database.
  if (isThere) await endSessions(db, name);
  if (made.has(name)) await made.remove(name);
  await failpoint("host.database.forgotten");
  if (isThere) await db.unsafe(`drop database if exists ${identifier(name)}`);
}

async function revoke(db: SQL, database: DatabaseSpec): Promise<void> {
  await db.unsafe(`revoke all privileges on ${pattern(database.name)}.* from ${account(database)}`);
}

/** Ends the sessions in a database before its drop: their transactions would block the drop. */
async function endSessions(db: SQL, database: string): Promise<void> {
  const sessions = await db<{ id: number }[]>`
    select id from information_schema.processlist where db = ${database} and id <> connection_id()`;
  // A session that has ended by itself is unknown, and no other session gets its number.
  for (const { id } of sessions) await db.unsafe(`kill ${id}`).catch(() => undefined);
}

function account({ owner }: DatabaseSpec): string {
  return `${literal(owner)}@'%'`;
}

function pattern(name: string): string {
  return identifier(escaped(name));
}

/** In a grant a database's name is a pattern, where an underscore stands for any character. */
function escaped(name: string): string {
  return name.replaceAll("\\", "\\\\").replaceAll("_", "\\_").replaceAll("%", "\\%");
}

/** Whether the connection was lost or the server shuts down (1053), instead of a failed statement. */
function isGone(error: unknown): boolean {
  if (!(error instanceof SQL.MySQLError)) return error instanceof Error && "code" in error;
  return error.errno === undefined || error.errno === 1053;
}

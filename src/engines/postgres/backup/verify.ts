// Reads all tables and indexes of a restored copy, and finds what is damaged: counting rows would read an index alone.
import type { SQL } from "bun";
import { randomBytes } from "node:crypto";
import { PublicError } from "../../../lib/errors.ts";
import { presentable } from "../../../lib/presentable.ts";
import type { RestoreContext, Verification } from "../../backup.ts";
import { asAdmin, identifier, OWN_DATABASE } from "../admin.ts";
import { startPrivately, type PrivateServer } from "./private-server.ts";

/** As many faults say enough. */
const MAX_FAULTS = 20;
const MAX_FAULT_CHARACTERS = 300;

/** Databases and relations beyond these numbers are left out, and the verification is not complete. */
const MAX_DATABASES = 1_000;
const MAX_RELATIONS = 100_000;

interface Relation {
  oid: number;
  name: string;
  isIndex: boolean;
}

/** See `EngineBackup.verify`. @throws PublicError when the server does not start. */
export async function verify(context: RestoreContext, timeoutMs: number): Promise<Verification> {
  const over = AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]);
  const found: Verification = { checked: 0, isComplete: false, faults: [] };
  const server = startPrivately(context, []);
  const quit = () => void server.quit();
  over.addEventListener("abort", quit);
  try {
    if (!(await server.ready) && !over.aborted)
      throw new PublicError("The restored copy does not start.", new Error(server.log.tail));
    found.isComplete = await checkAll(server, found);
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    over.removeEventListener("abort", quit);
    await server.quit();
  }
  context.signal.throwIfAborted();
  return found;
}

/** @returns whether everything was checked. */
async function checkAll(server: PrivateServer, found: Verification): Promise<boolean> {
  const databases = await asAdmin(server, OWN_DATABASE, async (db) => {
    // A customer's settings for its databases apply to the administrator in them: they might refuse its login, end its
    // statements, or keep them from writing.
    await db.unsafe("set allow_system_table_mods = on; delete from pg_catalog.pg_db_role_setting").simple();
    return await db<{ name: string }[]>`
      select datname as name from pg_catalog.pg_database where datallowconn order by oid limit ${MAX_DATABASES + 1}`;
  });
  let isComplete = databases.length <= MAX_DATABASES;
  for (const { name } of databases.slice(0, MAX_DATABASES))
    isComplete =
      (await asAdmin(server, name, async (db) => await checkDatabase(db, name, found))) && isComplete;
  return isComplete;
}

async function checkDatabase(db: SQL, database: string, found: Verification): Promise<boolean> {
  const schema = await ownChecks(db);
  const relations = await relationsIn(db);
  for (const relation of relations.slice(0, MAX_RELATIONS)) {
    const fault = await faultIn(db, schema, relation);
    found.checked += 1;
    if (fault === null) continue;
    found.faults.push(presentable(`${database}: ${relation.name}: ${fault}`, MAX_FAULT_CHARACTERS));
    if (found.faults.length >= MAX_FAULTS) return false;
  }
  return relations.length <= MAX_RELATIONS;
}

/**
 * Creates the functions that check relations in a schema that has nothing else: in a schema of the customer, a function
 * of the same name might run in their place, with the rights of the administrator.
 * @returns the quoted name of the schema, which nobody can know beforehand.
 * @throws PublicError when the engine does not have them.
 */
async function ownChecks(db: SQL): Promise<string> {
  const [available] = await db`select from pg_catalog.pg_available_extensions where name = 'amcheck'`;
  if (available === undefined) throw new PublicError("The extension amcheck is not installed on this host.");
  const schema = identifier(`pilvi_verification_${randomBytes(16).toString("hex")}`);
  // An extension that is there already may share its schema with functions of the customer.
  await db.unsafe("drop extension if exists amcheck cascade").simple();
  await db.unsafe(`create schema ${schema}`).simple();
  await db.unsafe(`create extension amcheck schema ${schema}`).simple();
  return schema;
}

async function relationsIn(db: SQL): Promise<Relation[]> {
  return await db<Relation[]>`
    select c.oid::int8::float8 as oid, c.relkind = 'i' as "isIndex",
      pg_catalog.quote_ident(n.nspname::text) || '.' || pg_catalog.quote_ident(c.relname::text) as name
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_am a on a.oid = c.relam left join pg_catalog.pg_index i on i.indexrelid = c.oid
    where c.relpersistence = 'p'
      and (a.amname = 'heap' and c.relkind in ('r', 'm', 't') or a.amname = 'btree' and c.relkind = 'i' and i.indisvalid)
    order by c.oid limit ${MAX_RELATIONS + 1}`;
}

/** What is wrong with a relation, as Postgres says it; null for a relation that is sound. */
async function faultIn(db: SQL, schema: string, { oid, isIndex }: Relation): Promise<string | null> {
  const relation = `${oid}::pg_catalog.oid::pg_catalog.regclass`;
  if (!isIndex) {
    const inTable = await faultBy(db, `select msg from ${schema}.verify_heapam(${relation}) limit 1`);
    return inTable?.message ?? null;
  }
  // The check that each row is in the index calls functions of the customer, with the rights of the table's owner.
  const inIndex = await faultBy(db, `select ${schema}.bt_index_check(${relation}, true)`);
  if (inIndex === null || !NO_DAMAGE.test(inIndex.code)) return inIndex?.message ?? null;
  const inStructure = await faultBy(db, `select ${schema}.bt_index_check(${relation}, false)`);
  return inStructure?.message ?? null;
}

/**
 * Codes of errors of a function that does not find another function or table, or may not use it: it is not in the schemas
 * that the administrator searches.
 */
const NO_DAMAGE = /^(?:42|3F)/;

async function faultBy(db: SQL, check: string): Promise<{ message: string; code: string } | null> {
  try {
    const [row] = await db.unsafe<{ msg?: string }[]>(check);
    return row?.msg === undefined ? null : { message: row.msg, code: "" };
  } catch (error) {
    // Without an answer of the server, nothing is known of the relation.
    if (error instanceof Bun.SQL.PostgresError && error.errno !== undefined)
      return { message: error.message, code: error.errno };
    throw error;
  }
}

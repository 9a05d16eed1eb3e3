// Reads all tables and indexes of a restored copy, and finds what is damaged: counting rows would read an index alone.
import type { SQL } from "bun";
import { PublicError } from "../../../lib/errors.ts";
import { presentable } from "../../../lib/presentable.ts";
import type { RestoreContext, Verification } from "../../backup.ts";
import { asAdmin, OWN_DATABASE } from "../admin.ts";
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
    // A customer's settings for a database or a role might keep the administrator out, or keep it from writing.
    await db.unsafe("set allow_system_table_mods = on; delete from pg_db_role_setting").simple();
    return await db<{ name: string }[]>`
      select datname as name from pg_database where datallowconn order by oid limit ${MAX_DATABASES + 1}`;
  });
  let isComplete = databases.length <= MAX_DATABASES;
  for (const { name } of databases.slice(0, MAX_DATABASES))
    isComplete =
      (await asAdmin(server, name, async (db) => await checkDatabase(db, name, found))) && isComplete;
  return isComplete;
}

async function checkDatabase(db: SQL, database: string, found: Verification): Promise<boolean> {
  await db.unsafe("create schema if not exists pilvi_verification").simple();
  await db.unsafe("create extension if not exists amcheck schema pilvi_verification").simple();
  const [extension] = await db<{ schema: string }[]>`
    select quote_ident(nspname) as schema from pg_extension e join pg_namespace n on n.oid = extnamespace
    where extname = 'amcheck'`;
  if (extension === undefined) throw new PublicError("The extension amcheck is not installed on this host.");
  const relations = await relationsIn(db);
  for (const relation of relations.slice(0, MAX_RELATIONS)) {
    const fault = await faultIn(db, extension.schema, relation);
    found.checked += 1;
    if (fault === null) continue;
    found.faults.push(presentable(`${database}: ${relation.name}: ${fault}`, MAX_FAULT_CHARACTERS));
    if (found.faults.length >= MAX_FAULTS) return false;
  }
  return relations.length <= MAX_RELATIONS;
}

async function relationsIn(db: SQL): Promise<Relation[]> {
  return await db<Relation[]>`
    select c.oid::int8::float8 as oid, quote_ident(nspname) || '.' || quote_ident(relname) as name, c.relkind = 'i' as "isIndex"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_am a on a.oid = c.relam
      left join pg_index i on i.indexrelid = c.oid
    where c.relpersistence = 'p'
      and (a.amname = 'heap' and c.relkind in ('r', 'm', 't') or a.amname = 'btree' and c.relkind = 'i' and i.indisvalid)
    order by c.oid limit ${MAX_RELATIONS + 1}`;
}

/** What is wrong with a relation, as Postgres says it; null for a relation that is sound. */
async function faultIn(db: SQL, schema: string, { oid, isIndex }: Relation): Promise<string | null> {
  const check = isIndex
    ? `select ${schema}.bt_index_check(${oid}::oid::regclass, true)`
    : `select msg from ${schema}.verify_heapam(${oid}::oid::regclass) limit 1`;
  try {
    const [row] = await db.unsafe<{ msg?: string }[]>(check);
    return row?.msg ?? null;
  } catch (error) {
    // Without an answer of the server, nothing is known of the relation.
    if (error instanceof Bun.SQL.PostgresError && error.errno !== undefined) return error.message;
    throw error;
  }
}

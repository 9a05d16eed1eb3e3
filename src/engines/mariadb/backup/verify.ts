// Verifies a restored copy of a MariaDB: reads every row and every index of every table.
import type { SQL } from "bun";
import { presentable } from "../../../lib/presentable.ts";
import { RestoreFault, type RestoreContext, type Verification } from "../../backup.ts";
import { identifier } from "../admin.ts";
import { withServer } from "./server.ts";

/** The most tables that are checked; customers can make as many as they like. */
const MAX_TABLES = 100_000;

/** The most faults that are named. */
const MAX_FAULTS = 20;

interface Table {
  database: string;
  name: string;
}

/** See `EngineBackup.verify`. */
export async function verify(context: RestoreContext, timeoutMs: number): Promise<Verification> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const found: Verification = { checked: 0, isComplete: false, faults: [] };
  try {
    await withServer({ ...context, signal }, async (db) => await checkAll(db, found));
  } catch (error) {
    context.signal.throwIfAborted();
    if (timeout.aborted) return found;
    if (!(error instanceof RestoreFault)) throw error;
    found.faults.push(error.message);
  }
  return found;
}

async function checkAll(db: SQL, found: Verification): Promise<void> {
  const tables = await db.unsafe<Table[]>(`
    select table_schema as \`database\`, table_name as name from information_schema.tables
    where table_type in ('BASE TABLE', 'SEQUENCE', 'SYSTEM VERSIONED')
      and table_schema not in ('information_schema', 'performance_schema')
    order by table_schema, table_name limit ${MAX_TABLES + 1}`);
  for (const table of tables.slice(0, MAX_TABLES)) {
    const fault = await faultIn(db, table);
    found.checked += 1;
    if (fault !== null && found.faults.length < MAX_FAULTS) found.faults.push(fault);
  }
  found.isComplete = tables.length <= MAX_TABLES;
}

/** A warning, such as that a table was in use when it was copied, is no fault. */
async function faultIn(db: SQL, { database, name }: Table): Promise<string | null> {
  const rows = await db.unsafe<{ Msg_type: string; Msg_text: string }[]>(
    `check table ${identifier(database)}.${identifier(name)} extended`,
  );
  const error = rows.find(({ Msg_type }) => Msg_type.toLowerCase() === "error");
  if (error === undefined) return null;
  return `The table "${presentable(database)}.${presentable(name)}" is damaged: ${presentable(error.Msg_text)}.`;
}

// What the statements of a Postgres have taken, from pg_stat_statements.
import type { SQL } from "bun";
import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import { inForeignFolder } from "../../lib/foreign-file.ts";
import {
  MAX_TEXT_CHARACTERS,
  type StatementFigures,
  type StatementOrder,
  type StatementsAnswer,
  type StatementsRequest,
} from "../../contracts/queries.ts";
import type { EngineContext } from "../engine.ts";
import { boundedName, statementText } from "../statement-text.ts";
import { inspect } from "./admin.ts";
import { ADMIN_NAME } from "./config.ts";

type Context = EngineContext<PostgresSpec>;

/** The columns that statements are ordered by. */
const COLUMNS: Record<StatementOrder, string> = {
  total_time: "total_exec_time",
  mean_time: "mean_exec_time",
  max_time: "max_exec_time",
  calls: "calls",
  rows: "rows",
};

/** The file of all texts, which the engine reads as a whole for a question. */
const TEXT_FILE = "pg_stat_tmp/pgss_query_texts.stat";

/** The file in which the engine keeps its statistics between two runs, and which it reads before it is ready. */
const [KEPT_FOLDER, KEPT_FILE] = ["pg_stat", "pg_stat_statements.stat"];

/** A customer may write texts of any size, so a larger file stays unread. */
const MAX_FILE_BYTES = 32 * 1024 ** 2;

interface Row extends Omit<StatementFigures, "isCut"> {
  characters: number | null;
  total: number;
}

/** See `EngineInspection.statements`. */
export async function statements(
  context: Context,
  { order, limit }: StatementsRequest,
): Promise<Omit<StatementsAnswer, "isAsleep">> {
  return await inspect(context, async (db) => {
    await ensureExtension(db);
    const [texts] = await db<{ bytes: number | null }[]>`
      select size::float8 as bytes from pg_stat_file(${TEXT_FILE}, true)`;
    const hasTexts = (texts?.bytes ?? 0) <= MAX_FILE_BYTES;
    const rows = await db.unsafe<Row[]>(`
      select s.userid || '.' || s.dbid || '.' || s.queryid || case when s.toplevel then '' else '.nested' end as id,
             r.rolname::text as user, d.datname::text as database,
             left(s.query, ${MAX_TEXT_CHARACTERS}) as text, length(s.query) as characters,
             s.calls::float8 as calls, s.total_exec_time as "totalMs", s.mean_exec_time as "meanMs",
             s.max_exec_time as "maxMs", s.rows::float8 as rows, s.shared_blks_hit::float8 as "blocksHit",
             s.shared_blks_read::float8 as "blocksRead", (count(*) over ())::int as total
      from public.pg_stat_statements(${hasTexts}) s
      left join pg_catalog.pg_roles r on r.oid = s.userid
      left join pg_catalog.pg_database d on d.oid = s.dbid
      where s.queryid is not null and r.rolname is distinct from '${ADMIN_NAME}'
      order by s.${COLUMNS[order]} desc, s.queryid
      limit ${limit}`);
    const [counted] = await db<{ since: Date | null }[]>`
      select stats_reset as since from public.pg_stat_statements_info()`;
    return {
      total: rows[0]?.total ?? 0,
      since: counted?.since?.toISOString() ?? null,
      statements: rows.map(figuresOf),
    };
  });
}

/** See `EngineInspection.resetStatements`. */
export async function resetStatements(context: Context): Promise<void> {
  await inspect(context, async (db) => {
    await ensureExtension(db);
    await db`select public.pg_stat_statements_reset()`;
  });
}

/** Deletes statistics that would make a start slow, for which other instances wait. See `Engine.beforeStart`. */
export function dropLargeStatistics({ paths }: Context): void {
  inForeignFolder(join(paths.dataDir, KEPT_FOLDER), (folder) => {
    const file = join(folder, KEPT_FILE);
    const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MAX_FILE_BYTES) rmSync(file, { force: true });
  });
}

/** Customers' databases have the extension from the start; the host's own gets it when it is first needed. */
async function ensureExtension(db: SQL): Promise<void> {
  await db.unsafe("create extension if not exists pg_stat_statements schema public").simple();
}

function figuresOf(row: Row): StatementFigures {
  const { id, calls, totalMs, meanMs, maxMs, rows, blocksHit, blocksRead, text, characters } = row;
  return {
    id,
    ...statementText(text, (characters ?? 0) > MAX_TEXT_CHARACTERS, "postgres"),
    user: boundedName(row.user),
    database: boundedName(row.database),
    calls,
    totalMs,
    meanMs,
    maxMs,
    rows,
    blocksHit,
    blocksRead,
  };
}

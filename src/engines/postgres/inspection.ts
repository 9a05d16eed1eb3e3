// The sessions of a running Postgres, and how they are ended.
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import {
  MAX_QUERIES,
  MAX_TEXT_CHARACTERS,
  type CancelAnswer,
  type CancelScope,
  type QueriesAnswer,
  type QueriesRequest,
  type QueryState,
} from "../../contracts/queries.ts";
import type { EngineContext } from "../engine.ts";
import type { EngineInspection } from "../inspection.ts";
import { boundedName, statementText } from "../statement-text.ts";
import { inspect } from "./admin.ts";
import { ADMIN_NAME } from "./config.ts";
import { resetStatements, statements } from "./statements.ts";

type Context = EngineContext<PostgresSpec>;

export const inspection: EngineInspection<PostgresSpec> = { queries, cancel, statements, resetStatements };

interface Row {
  pid: number;
  began: string;
  statement: string;
  user: string;
  database: string | null;
  application: string | null;
  address: string | null;
  state: string;
  wait: string | null;
  durationMs: number | null;
  transactionMs: number | null;
  text: string | null;
  isCut: boolean;
  total: number;
}

/** The states of `pg_stat_activity`; others are those of a session that runs something. */
const STATES: Record<string, QueryState> = {
  idle: "idle",
  "idle in transaction": "idle_in_transaction",
  "idle in transaction (aborted)": "idle_in_failed_transaction",
};

/** The beginning of a session in microseconds, and that of its latest statement after it, exactly. */
const micros = (interval: string) => `abs(extract(epoch from ${interval}) * 1000000)::bigint::text`;
const BEGAN = micros("backend_start");
const STATEMENT = micros("coalesce(query_start, backend_start) - backend_start");

/** The time since a moment; null when the moment is null. */
const elapsedMs = (moment: string) => `(extract(epoch from clock_timestamp() - ${moment}) * 1000)::float8`;

/** The sessions of customers that have logged in. */
const OF_CUSTOMERS = `backend_type = 'client backend' and usename <> '${ADMIN_NAME}' and state is not null and state <> 'starting'`;

async function queries(
  context: Context,
  { withIdle }: QueriesRequest,
): Promise<Omit<QueriesAnswer, "isAsleep">> {
  const rows = await inspect(context, (db) =>
    db.unsafe<Row[]>(`
      select pid, ${BEGAN} as began, ${STATEMENT} as statement,
             usename::text as user, datname::text as database, application_name as application,
             host(client_addr) as address, state,
             case when wait_event_type <> 'Client' then wait_event_type || ': ' || wait_event end as wait,
             ${elapsedMs("case when state = 'active' then query_start else state_change end")} as "durationMs",
             ${elapsedMs("xact_start")} as "transactionMs",
             left(query, ${MAX_TEXT_CHARACTERS}) as text,
             octet_length(query) >= pg_size_bytes(current_setting('track_activity_query_size')) - 1 as "isCut",
             (count(*) over ())::int as total
      from pg_stat_activity
      where ${OF_CUSTOMERS} ${withIdle ? "" : "and state <> 'idle'"}
      order by state = 'idle', state <> 'active', coalesce(xact_start, state_change)
      limit ${MAX_QUERIES}`),
  );
  return { total: rows[0]?.total ?? 0, queries: rows.map(queryOf) };
}

function queryOf(row: Row): QueriesAnswer["queries"][number] {
  const { pid, began, statement, address, wait, durationMs, transactionMs, text, isCut } = row;
  return {
    id: [String(pid), shortened(began), shortened(statement)].join("-"),
    user: boundedName(row.user) ?? "",
    database: boundedName(row.database),
    application: boundedName(row.application),
    address,
    state: STATES[row.state] ?? "active",
    wait,
    // A clock may be set back.
    durationMs: Math.max(0, durationMs ?? 0),
    transactionMs: transactionMs === null ? null : Math.max(0, transactionMs),
    ...statementText(text === "" ? null : text, isCut, "postgres"),
  };
}

/**
 * Asks for the end in the same statement that finds the session. The kernel gives a pid to another session sooner or
 * later, but no two sessions with one pid begin at the same time.
 */
async function cancel(context: Context, id: string, scope: CancelScope): Promise<CancelAnswer["outcome"]> {
  const [pid = "", began = "", statement = ""] = id.split("-");
  const [found] = await inspect(context, (db) =>
    db.unsafe<{ isAsked: boolean | null; isInTransaction: boolean }[]>(
      `select case when $1 = 'session' then pg_terminate_backend(pid)
                   when state in ('active', 'fastpath function call') then pg_cancel_backend(pid) end as "isAsked",
              state like 'idle in transaction%' as "isInTransaction"
       from pg_stat_activity
       where ${OF_CUSTOMERS} and pid::text = $2 and ${BEGAN} = $3
         and ($1 = 'session' or ${STATEMENT} = $4)`,
      [scope, pid, lengthened(began), lengthened(statement)],
    ),
  );
  if (found?.isAsked === true) return "cancelled";
  return found?.isAsked === null && found.isInTransaction ? "idle" : "ended";
}

const RADIX = 36;

/** Writes digits with letters as well, so that an id fits into a line. */
function shortened(digits: string): string {
  return BigInt(digits).toString(RADIX);
}

function lengthened(text: string): string {
  let value = 0n;
  for (const digit of text) value = value * BigInt(RADIX) + BigInt(Number.parseInt(digit, RADIX) || 0);
  return String(value);
}

// The sessions of a running MariaDB, and how they are ended. It keeps no statistics of statements: its performance
// schema, which could, takes 34 MB where it keeps nothing else.
import { SQL } from "bun";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import {
  MAX_QUERIES,
  MAX_TEXT_CHARACTERS,
  type CancelAnswer,
  type CancelScope,
  type QueriesAnswer,
  type QueriesRequest,
} from "../../contracts/queries.ts";
import type { EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";
import { INSPECTION_TIMEOUT_MS, type EngineInspection } from "../inspection.ts";
import { boundedName, statementText } from "../statement-text.ts";
import { asAdmin, literal } from "./admin.ts";
import { BACKUP_USER } from "./backup/account.ts";
import { NOBODY } from "./sessions.ts";
import { renewTransactions } from "./transactions.ts";

type Context = EngineContext<MysqlSpec>;

export const inspection: EngineInspection<MysqlSpec> = { queries, cancel };

interface Row {
  session: string;
  statement: string;
  /** When the server began, in seconds, give or take one. */
  began: number;
  user: string;
  database: string | null;
  host: string;
  command: string;
  wait: string | null;
  durationMs: number;
  transactionMs: number | null;
  text: string | null;
  isCut: number;
  total: number;
}

/** A server counts its sessions and statements from one, so an id needs its beginning, which it rounds. */
const BEGAN = `(select floor(unix_timestamp(now(6)) - variable_value) from information_schema.global_status
                where variable_name = 'UPTIME')`;
const ROUNDING_SECONDS = 2;

/** The server's error for a statement that has ended. */
const UNKNOWN_STATEMENT = 1957;
/** The server's error for a session that has ended. */
const UNKNOWN_SESSION = 1094;

/** Runs work as the administrator, for a bounded time. */
async function inspect<T>(context: Context, work: (db: SQL) => Promise<T>): Promise<T> {
  const bounded = async (db: SQL) => {
    await db.unsafe(`set session max_statement_time = ${INSPECTION_TIMEOUT_MS / 1_000}`);
    return await work(db);
  };
  return await asAdmin(context, bounded, INSPECTION_TIMEOUT_MS);
}

/** The sessions of customers that have logged in, and the events that run for them. */
function ofCustomers(): string {
  const own = [hostUser("MariaDB"), BACKUP_USER, NOBODY, "system user", "event_scheduler"].map(literal);
  return `p.user not in (${own.join(", ")}) and p.command <> 'Daemon'`;
}

async function queries(
  context: Context,
  { withIdle }: QueriesRequest,
): Promise<Omit<QueriesAnswer, "isAsleep">> {
  const rows = await inspect(context, async (db) => {
    await renewTransactions(db);
    return await db.unsafe<Row[]>(`
      select cast(p.id as char) as session, cast(p.query_id as char) as statement,
             cast(${BEGAN} as double) as began, p.user, p.db as \`database\`, p.host, p.command,
             nullif(p.state, '') as wait, cast(p.time_ms as double) as durationMs,
             cast(timestampdiff(microsecond, t.trx_started, now(6)) / 1000 as double) as transactionMs,
             left(p.info, ${MAX_TEXT_CHARACTERS}) as text, char_length(p.info) > ${MAX_TEXT_CHARACTERS} as isCut,
             cast(count(*) over () as int) as total
      from information_schema.processlist p
      left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.id
      where ${ofCustomers()} ${withIdle ? "" : "and (p.command <> 'Sleep' or t.trx_id is not null)"}
      order by p.command = 'Sleep', t.trx_id is null, p.time_ms desc
      limit ${MAX_QUERIES}`);
  });
  return { total: rows[0]?.total ?? 0, queries: rows.map(queryOf) };
}

function queryOf(row: Row): QueriesAnswer["queries"][number] {
  const { session, statement, began, user, command, durationMs, transactionMs } = row;
  const isIdle = command === "Sleep";
  return {
    id: `${session}-${began}-${statement}`,
    user: boundedName(user) ?? "",
    database: boundedName(row.database),
    application: null,
    address: addressOf(row.host),
    state: !isIdle ? "active" : transactionMs === null ? "idle" : "idle_in_transaction",
    wait: boundedName(row.wait),
    durationMs: Math.max(0, durationMs),
    transactionMs: transactionMs === null ? null : Math.max(0, transactionMs),
    ...statementText(row.text, row.isCut === 1, "mysql"),
  };
}

/** The server writes an address with its port, and `localhost` for a client of its unix socket. */
function addressOf(host: string): string | null {
  const address = host.replace(/:\d+$/, "");
  return address === "localhost" ? null : boundedName(address);
}

/** The server checks the id of a statement itself when it ends it. */
async function cancel(context: Context, id: string, scope: CancelScope): Promise<CancelAnswer["outcome"]> {
  const [session = "", began = "", statement = ""] = id.split("-");
  if (![session, began, statement].every((part) => /^\d{1,20}$/.test(part))) return "ended";
  return await inspect(context, async (db) => {
    const [found] = await db.unsafe<{ isBusy: number; isInTransaction: number }[]>(
      `select p.command <> 'Sleep' as isBusy, p.query_id = ${statement} and p.id in (
         select trx_mysql_thread_id from information_schema.innodb_trx) as isInTransaction
       from information_schema.processlist p
       where ${ofCustomers()} and p.id = ${session} and abs(${BEGAN} - ${began}) <= ${ROUNDING_SECONDS}`,
    );
    if (found === undefined) return "ended";
    if (scope === "session") return await kill(db, `kill connection ${session}`);
    if (found.isBusy === 1) return await kill(db, `kill query id ${statement}`);
    return found.isInTransaction === 1 ? "idle" : "ended";
  });
}

async function kill(db: SQL, statement: string): Promise<CancelAnswer["outcome"]> {
  try {
    await db.unsafe(statement);
    return "cancelled";
  } catch (error) {
    const isOver =
      error instanceof SQL.MySQLError && [UNKNOWN_STATEMENT, UNKNOWN_SESSION].includes(Number(error.errno));
    if (isOver) return "ended";
    throw error;
  }
}

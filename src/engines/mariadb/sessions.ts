// What the host asks of a running MariaDB before it sleeps: who must not be parted from it, and who may log in.
import type { SQL } from "bun";
import type { InstanceUser, MysqlSpec } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import { presentable } from "../../lib/presentable.ts";
import type { EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";
import { MAX_USERS, MAX_VERIFIER_BYTES, type UserList } from "../users.ts";
import { asAdmin } from "./admin.ts";

/** Accounts that come with the server, or are the host's own. */
const SYSTEM_USERS = ["root", "mysql", "mariadb.sys"];

/** Whom the server names for a connection that has not proved yet who it is. */
const NOBODY = "unauthenticated user";

/** How long nobody may read the list of transactions for the server to make it anew, with some time to spare, in milliseconds. */
const STALE_MS = 110;

/** How often the list is asked for; whoever reads it all the time keeps it from being made anew. */
const ATTEMPTS = 20;

/** Of a list that a customer can make as long as it likes, so much is read: our own thread, and one that is busy. */
const READ_ROWS = 2;

/** Prepared transactions can be listed all at once only, so no more of them are than these. */
const MAX_LISTED = 100;

interface Thread {
  isOwn: number;
  user: string;
  command: string;
  isInTransaction: number;
}

interface OpenTable {
  Database: string;
  Table: string;
}

/** See `Engine.blockingActivity`. The host may ask for something else at the same time. An event that runs is a thread of its own. @throws when it does not answer. */
export async function blockingActivity(context: EngineContext<MysqlSpec>): Promise<string | null> {
  return await asAdmin(context, async (db) => {
    await db.unsafe(`set session sql_select_limit = ${READ_ROWS}`);
    const thread = (await threads(db)).find(({ isOwn }) => !isOwn);
    if (thread !== undefined) return sentenceFor(thread);
    const [table] = await db.unsafe<OpenTable[]>(
      "show open tables where in_use > 0 and `database` <> 'mysql'",
    );
    if (table !== undefined)
      return `A client has locked the table "${presentable(table.Database)}.${presentable(table.Table)}".`;
    return await preparedReason(db);
  });
}

/** Prepared transactions that no client is connected to any more are among those of no thread. */
async function preparedReason(db: SQL): Promise<string | null> {
  const [count] = await db.unsafe<{ total: number }[]>(
    "select cast(count(*) as int) as total from information_schema.innodb_trx where trx_mysql_thread_id = 0",
  );
  const total = count?.total ?? 0;
  if (total > MAX_LISTED) return `${total} prepared transactions wait for their end.`;
  const [prepared] = await db.unsafe<{ data: string }[]>("xa recover format='sql'");
  return prepared === undefined
    ? null
    : `The prepared transaction ${presentable(prepared.data)} waits for its end.`;
}

/**
 * Who is busy or in a transaction, ourselves included. The server answers out of a list of transactions that may be old; one
 * that has our own is new enough.
 * @throws PublicError when others read it all the time.
 */
async function threads(db: SQL): Promise<Thread[]> {
  await db.unsafe("start transaction with consistent snapshot");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await db<Thread[]>`
      select p.id = connection_id() as isOwn, p.user, p.command, t.trx_id is not null as isInTransaction
      from information_schema.processlist p
      left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.id
      where (p.id = connection_id() or p.user not in (${hostUser("MariaDB")}, ${NOBODY}))
        and p.command <> 'Daemon' and (p.command <> 'Sleep' or t.trx_id is not null)
      order by isOwn desc, p.id`;
    if (found.some(({ isOwn, isInTransaction }) => isOwn && isInTransaction)) {
      await db.unsafe("commit");
      return found;
    }
    await Bun.sleep(STALE_MS);
  }
  throw new PublicError("Others read the list of transactions all the time.");
}

/**
 * All accounts that can prove a password with `mysql_native_password`. The gateway comes through the unix socket, so to the
 * server its clients are at `localhost`, and an account that names it goes before one of any host. One that requires TLS cannot
 * log in there, so it would be woken for nothing.
 * @throws when it does not answer.
 */
export async function users(context: EngineContext<MysqlSpec>): Promise<UserList> {
  return await asAdmin(context, async (db) => {
    const rows = await db<InstanceUser[]>`
      select user as name, json_value(priv, '$.authentication_string') as verifier
      from mysql.global_priv
      where host in ('%', 'localhost')
        and json_value(priv, '$.plugin') = 'mysql_native_password'
        and json_value(priv, '$.authentication_string') like '*%'
        and coalesce(json_value(priv, '$.account_locked'), 'false') not in ('true', '1')
        and coalesce(json_value(priv, '$.ssl_type'), '0') = '0'
        and octet_length(json_value(priv, '$.authentication_string')) <= ${MAX_VERIFIER_BYTES}
      order by user, host = 'localhost'
      limit ${MAX_USERS + 1}`;
    // Of two with the same name the later stays.
    const byName = new Map(rows.map(({ name, verifier }) => [name, verifier.toUpperCase()]));
    for (const name of SYSTEM_USERS) byName.delete(name);
    // Customers make no users here. Of more than are kept, how many there are is not worth another question.
    return { users: [...byName].map(([name, verifier]) => ({ name, verifier })), leftOut: 0 };
  });
}

function sentenceFor({ user, command, isInTransaction }: Thread): string {
  const does = isInTransaction ? "is in the middle of a transaction" : `is busy (${command})`;
  return `The user "${presentable(user)}" ${does}.`;
}

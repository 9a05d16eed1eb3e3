// What the host asks of a running MariaDB before it sleeps: which activity forbids a stop, and which users may log in.
import type { SQL } from "bun";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import { PublicError } from "../../lib/errors.ts";
import { presentable } from "../../lib/presentable.ts";
import type { EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";
import { MAX_USERS, MAX_VERIFIER_BYTES, type UserList } from "../users.ts";
import { asAdmin } from "./admin.ts";
import { BACKUP_USER } from "./backup/account.ts";
import { STALE_MS } from "./transactions.ts";

/** Accounts that come with the server, or are the host's own. */
const SYSTEM_USERS = ["root", "mysql", "mariadb.sys", BACKUP_USER];

/** The server's name for the user of a connection before its login. */
export const NOBODY = "unauthenticated user";

/** How often the list is asked for; clients that read it all the time keep the server from making it anew. */
const ATTEMPTS = 20;

/** A customer can make a list as long as it likes, so only these rows are read: our own thread, and a busy thread. */
const READ_ROWS = 2;

/** Prepared transactions can only be listed all at once, so a longer list is not read. */
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

/**
 * See `Engine.blockingActivity`. The host may ask for something else at the same time. A running event is a thread of
 * its own.
 * @throws when the engine does not answer.
 */
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

/** A prepared transaction that outlived its connection belongs to no thread, which is thread 0. */
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
 * The threads that are busy or in a transaction, our own included. The server may answer from an old list of
 * transactions; a list that has our own transaction is new enough.
 * @throws PublicError when others read the list all the time.
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
 * The accounts that can prove a password with `mysql_native_password`. The gateway comes through the unix socket, so
 * the server sees its clients at `localhost`, and an account of that host goes before an account of any host. An
 * account that requires TLS cannot log in there, so its clients must not wake the cluster.
 * @throws when the engine does not answer.
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
    // Of two accounts with the same name the later stays.
    const byName = new Map(rows.map(({ name, verifier }) => [name, verifier.toUpperCase()]));
    for (const name of SYSTEM_USERS) byName.delete(name);
    // Customers make no users here, so the number of users beyond the limit is not worth another question.
    return { users: [...byName].map(([name, verifier]) => ({ name, verifier })), leftOut: 0 };
  });
}

function sentenceFor({ user, command, isInTransaction }: Thread): string {
  const does = isInTransaction ? "is in the middle of a transaction" : `is busy (${command})`;
  return `The user "${presentable(user)}" ${does}.`;
}

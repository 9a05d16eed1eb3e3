// The account with which the program that copies a running MariaDB logs in, while it copies. The program runs as the
// user of the instance, whom the server knows by no name.
import type { SQL } from "bun";
import { heldUpOr, literal } from "../admin.ts";

/** Customers make no accounts, so none of theirs has this name. */
export const BACKUP_USER = "pilvi-backup";

const ACCOUNT = `${literal(BACKUP_USER)}@localhost`;

/** To read all pages, to lock against changes of tables, and to see how far the log is. */
const RIGHTS = "reload, process, lock tables, binlog monitor, slave monitor";

/** How long a client's lock may hold up the change, in seconds. */
const LOCK_WAIT_SECONDS = 5;

/** Removes the account, also from the data of a restored copy. */
export const DROP_ACCOUNT = `drop user if exists ${ACCOUNT}`;

/** Makes the account anew. @returns its password. @throws LockTimeout */
export async function makeAccount(db: SQL): Promise<string> {
  const password = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString("hex");
  try {
    await leaveOutOfLog(db);
    await db.unsafe(`set session lock_wait_timeout = ${LOCK_WAIT_SECONDS}`);
    await db.unsafe(`create or replace user ${ACCOUNT} identified by ${literal(password)}`);
    await db.unsafe(`grant ${RIGHTS} on *.* to ${ACCOUNT}`);
    return password;
  } catch (error) {
    throw heldUpOr(error);
  }
}

/** Customers may read the log of their server, which must not have the password, and no restore makes the account. */
export async function leaveOutOfLog(db: SQL): Promise<void> {
  await db.unsafe("set session sql_log_bin = 0");
}

/** Ends all sessions of the account, and with them the locks that they hold. */
export async function endSessions(db: SQL): Promise<void> {
  await db.unsafe(`kill connection user ${ACCOUNT}`);
}

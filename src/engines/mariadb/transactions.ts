// The list of transactions of a MariaDB, which the server makes anew only when nobody has read it for a while.
import type { SQL } from "bun";

/**
 * For how long the list of transactions must not be read until the server makes it anew, with some to spare, in
 * milliseconds.
 */
export const STALE_MS = 110;

/** A reader of queries is answered from an old list after so many attempts: others may read the list all the time. */
const ATTEMPTS = 5;

/** Has the server make the list of transactions anew, by a transaction of our own that a new list has. */
export async function renewTransactions(db: SQL): Promise<void> {
  await db.unsafe("start transaction with consistent snapshot");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [own] = await db.unsafe<object[]>(
      "select trx_id from information_schema.innodb_trx where trx_mysql_thread_id = connection_id()",
    );
    if (own !== undefined) break;
    await Bun.sleep(STALE_MS);
  }
  await db.unsafe("commit");
}

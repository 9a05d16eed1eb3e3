// How many rows of a table a task reads in the store, for tests of its indexes.
import type { Database, Transaction } from "../../../src/store/database.ts";

/**
 * The rows that a task reads of a table, by scans of any kind.
 * @param task whose statements all run in the transaction; its changes are kept.
 */
export async function rowsRead(
  db: Database,
  table: string,
  task: (tx: Transaction) => Promise<unknown>,
): Promise<number> {
  return await db.begin(async (tx) => {
    // A table with few pages would be read whole.
    await tx`set local enable_seqscan = off`;
    const before = await readBy(tx, table);
    await task(tx);
    return (await readBy(tx, table)) - before;
  });
}

/** The count may begin with earlier transactions of the same session. */
async function readBy(tx: Transaction, table: string): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_xact_user_tables where relname = ${table}`;
  return row?.rows ?? 0;
}

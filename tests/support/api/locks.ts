// Transactions of tests that lock what transactions of Pilvi lock as well.
import { sessionOf } from "../../../src/reconciler/test-support.ts";
import type { Database, Transaction } from "../../../src/store/database.ts";

/**
 * Runs a transaction that fails as soon as it and others wait for each other: Postgres ends it then, before any of the
 * others, and nobody runs it again.
 */
export async function inTransaction(db: Database, work: (tx: Transaction) => Promise<void>): Promise<void> {
  const session = sessionOf(db);
  try {
    await session.begin(async (tx) => {
      await tx`set local deadlock_timeout = '1ms'`;
      await work(tx);
    });
  } finally {
    await session.close();
  }
}

/** Resolves when statements wait for locks. */
export async function untilSomebodyWaits(db: Database, count = 1): Promise<void> {
  for (;;) {
    const [row] = await db`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row.waiting >= count) return;
  }
}

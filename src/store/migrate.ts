// Brings the schema of the store up to date: plain SQL files, each run once, in order, forward only.
import type { Database } from "./database.ts";
import { Refusal } from "../lib/errors.ts";

/** One step of the schema. */
export interface Migration {
  /** The file's name without its ending; its number gives the order. */
  name: string;
  sql: string;
}

/** An arbitrary number, as long as nothing else in the store takes the same advisory lock. */
const MIGRATION_LOCK = 7_458_001;

/**
 * Runs the migrations that the store lacks. Several processes may call it at once.
 * @throws Refusal when the store was made by a newer Pilvi.
 */
export async function migrate(db: Database, migrations: Migration[]): Promise<void> {
  await db.begin(async (tx) => {
    // Nobody else works with the store yet, and a start on a busy machine must not fail half-way.
    await tx`set local idle_in_transaction_session_timeout = '2min'`;
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await tx`create table if not exists migrations (name text primary key, run_at timestamptz not null default now())`;
    const seen = new Set((await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name));
    const known = new Set(migrations.map((migration) => migration.name));
    const unknown = [...seen].find((name) => !known.has(name));
    if (unknown !== undefined) {
      throw new Refusal(
        `The store has the migration ${unknown}, which this Pilvi does not know. Start a newer one.`,
      );
    }
    for (const migration of migrations) {
      if (seen.has(migration.name)) continue;
      await tx.unsafe(migration.sql);
      await tx`insert into migrations (name) values (${migration.name})`;
    }
  });
}

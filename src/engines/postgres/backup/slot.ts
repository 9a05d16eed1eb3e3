// The replication slot that keeps the log of a Postgres until it is in the archive.
import type { SQL } from "bun";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import type { LogStatus } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { inspect } from "../admin.ts";

/** Nobody streams from it, so it holds no row back from vacuum, and needs no process. */
const SLOT = "pilvi";

/** Keeps the log from now on, or no longer. Idempotent. */
export async function ensureSlot(db: SQL, isKept: boolean): Promise<void> {
  if (isKept)
    await db`select pg_create_physical_replication_slot(${SLOT}, true)
             where not exists (select from pg_replication_slots where slot_name = ${SLOT})`;
  else
    await db`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = ${SLOT}`;
}

/** See `EngineLog.status`. @throws when the engine does not answer. */
export async function logStatus(context: EngineContext<PostgresSpec>): Promise<LogStatus> {
  return await inspect(context, async (db) => {
    const [row] = await db<{ lsn: string; isWhole: boolean }[]>`
      select pg_current_wal_lsn()::text as lsn, exists (
        select from pg_replication_slots
        where slot_name = ${SLOT} and wal_status <> 'lost' and restart_lsn is not null) as "isWhole"`;
    if (row === undefined) throw new Error("Postgres gave no state of its log");
    if (!row.isWhole) {
      await ensureSlot(db, false);
      await ensureSlot(db, true);
    }
    return { isWhole: row.isWhole, lsn: row.lsn };
  });
}

/** See `EngineLog.release`. @throws when the engine does not answer. */
export async function releaseLog(context: EngineContext<PostgresSpec>, lsn: string): Promise<void> {
  await inspect(
    context,
    (db) => db`
      select pg_replication_slot_advance(slot_name, ${lsn}::pg_lsn) from pg_replication_slots
      where slot_name = ${SLOT} and wal_status <> 'lost' and restart_lsn < ${lsn}::pg_lsn`,
  );
}

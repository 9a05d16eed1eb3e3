// The figures of a running Postgres, without those of the host's own database and sessions.
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext, EngineReading } from "../engine.ts";
import { asAdmin, OWN_DATABASE } from "./admin.ts";
import { ADMIN_NAME } from "./config.ts";

type Row = Required<Pick<EngineReading["counters"], (typeof COUNTERS)[number]>> &
  Required<Pick<EngineReading["gauges"], (typeof GAUGES)[number]>>;

const COUNTERS = [
  "commits",
  "rollbacks",
  "rowsWritten",
  "blocksHit",
  "blocksRead",
  "deadlocks",
  "walBytes",
] as const;
const GAUGES = [
  "connections",
  "activeConnections",
  "idleConnections",
  "idleInTransactionConnections",
] as const;

/** See `Engine.reading`. @throws when the engine does not answer. */
export async function reading(context: EngineContext<PostgresSpec>): Promise<EngineReading> {
  const [row] = await asAdmin(
    context,
    OWN_DATABASE,
    (db) => db<Row[]>`
      select commits, rollbacks, "rowsWritten", "blocksHit", "blocksRead", deadlocks, "walBytes", connections,
             "activeConnections", "idleConnections", "idleInTransactionConnections"
      from (
        select coalesce(sum(xact_commit), 0)::float8 as commits, coalesce(sum(xact_rollback), 0)::float8 as rollbacks,
               coalesce(sum(tup_inserted + tup_updated + tup_deleted), 0)::float8 as "rowsWritten",
               coalesce(sum(blks_hit), 0)::float8 as "blocksHit", coalesce(sum(blks_read), 0)::float8 as "blocksRead",
               coalesce(sum(deadlocks), 0)::float8 as deadlocks
        from pg_stat_database where datname not in (${OWN_DATABASE}, 'template0', 'template1')) work,
      (
        select count(*)::float8 as connections,
               (count(*) filter (where state in ('active', 'fastpath function call')))::float8 as "activeConnections",
               (count(*) filter (where state = 'idle'))::float8 as "idleConnections",
               (count(*) filter (where state like 'idle in transaction%'))::float8 as "idleInTransactionConnections"
        from pg_stat_activity where backend_type = 'client backend' and usename is distinct from ${ADMIN_NAME}) sessions,
      (
        select pg_wal_lsn_diff(
          case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end,
          '0/0')::float8 as "walBytes") log`,
  );
  if (row === undefined) throw new Error("Postgres gave no figures");
  return { isPerProcess: false, counters: pick(row, COUNTERS), gauges: pick(row, GAUGES) };
}

function pick<Name extends keyof Row>(row: Row, names: readonly Name[]): Partial<Record<Name, number>> {
  const picked: Partial<Record<Name, number>> = {};
  for (const name of names) picked[name] = row[name];
  return picked;
}

// The figures of a running MariaDB, which count since the start of its process.
import type { CounterName } from "../../contracts/readings.ts";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext, EngineReading } from "../engine.ts";
import { asAdmin } from "./admin.ts";

/** The variables of the server whose sum is a counter. */
const COUNTERS: [name: CounterName, ...variables: string[]][] = [
  ["commits", "Handler_commit"],
  ["rollbacks", "Handler_rollback"],
  ["rowsWritten", "Handler_write", "Handler_update", "Handler_delete"],
  ["blocksHit", "Innodb_buffer_pool_read_requests"],
  ["blocksRead", "Innodb_buffer_pool_reads"],
  ["deadlocks", "Innodb_deadlocks"],
  ["walBytes", "Innodb_os_log_written"],
  ["networkInBytes", "Bytes_received"],
  ["networkOutBytes", "Bytes_sent"],
];

const VARIABLES = ["Threads_connected", ...COUNTERS.flatMap(([, ...variables]) => variables)];

/** See `Engine.reading`. @throws when the engine does not answer. */
export async function reading(context: EngineContext<MysqlSpec>): Promise<EngineReading> {
  const names = VARIABLES.map((name) => `'${name}'`).join(", ");
  const rows = await asAdmin(context, (db) =>
    db.unsafe<{ Variable_name: string; Value: string }[]>(
      `show global status where variable_name in (${names})`,
    ),
  );
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Number(Value)]));
  const value = (name: string) => values.get(name) ?? 0;
  // A read from the disk is also counted as a request.
  const counters: EngineReading["counters"] = {};
  for (const [name, ...variables] of COUNTERS) {
    counters[name] = variables.reduce((sum, variable) => sum + value(variable), 0);
  }
  const { blocksHit = 0, blocksRead = 0 } = counters;
  return {
    isPerProcess: true,
    counters: { ...counters, blocksHit: Math.max(0, blocksHit - blocksRead) },
    // The question itself is a connection.
    gauges: { connections: Math.max(0, value("Threads_connected") - 1) },
  };
}

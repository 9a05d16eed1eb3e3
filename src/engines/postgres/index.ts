// How the host runs a Postgres.
import type { PostgresSpec } from "../../drivers/driver.ts";
import type { Engine } from "../engine.ts";
import { applySpec, isReady } from "./admin.ts";
import { configFiles, SOCKET_NAME } from "./config.ts";
import { prepareData } from "./initdb.ts";

export const postgres: Engine<PostgresSpec> = {
  name: "postgres",
  kind: "postgres",
  limits: (_spec, machineBytes) => ({ memoryBytes: machineBytes }),
  files: configFiles,
  args: ({ paths }) => ["-D", paths.dataDir, "-c", `config_file=${paths.confDir}/postgresql.conf`],
  socketName: SOCKET_NAME,
  readyLine: /database system is ready to accept connections/,
  prepare: prepareData,
  apply: applySpec,
  isReady,
  // SIGINT is Postgres' fast shutdown: sessions are ended, everything is written.
  stopSignal: "SIGINT",
  stopTimeoutMs: 60_000,
  explain,
};

function explain(logTail: string): string {
  if (logTail.includes("No space left on device")) return "The disk of the host is full.";
  const fatal = /(?:FATAL|PANIC): {1,2}(.*)/.exec(logTail);
  if (fatal !== null) return `Postgres ended before it was ready: ${fatal[1]}.`;
  return "Postgres ended before it was ready; its log on the host says why.";
}

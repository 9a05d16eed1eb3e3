// How the host runs a MariaDB, which serves the MySQL protocol where MySQL itself is not installed.
import { join } from "node:path";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import { presentable } from "../../lib/presentable.ts";
import type { ForeignProgram } from "../foreign-program.ts";
import type { Engine } from "../engine.ts";
import { firstNumbers } from "../versions.ts";
import { program } from "./program.ts";
import { grantedMemory } from "../memory.ts";
import { isReady } from "./admin.ts";
import { applySpec, restoreUsers } from "./apply.ts";
import { configFiles, SOCKET_NAME } from "./config.ts";
import { inspection } from "./inspection.ts";
import { firstData } from "./install-db.ts";
import { readLogLine } from "./log-line.ts";
import { reading } from "./reading.ts";
import { blockingActivity, users } from "./sessions.ts";
import { lastLogArgs, prepareLog } from "./backup/binary-log.ts";
import { backup } from "./backup/index.ts";

/** The longest error from the log, which may quote a customer's text. */
const MAX_REASON_CHARACTERS = 300;

/** Threads without a connection: those of InnoDB and Aria, and those of events that run at the same time. */
const OWN_THREADS = 128;

export const mariadb: Engine<MysqlSpec> & { program: ForeignProgram } = {
  name: "mariadb",
  kind: "mysql",
  protocol: "mysql",
  program,
  majorOf: (version) => firstNumbers(version, 2),
  limits,
  files: configFiles,
  args: (context) => [
    `--defaults-file=${join(context.paths.confDir, "mariadb.cnf")}`,
    ...lastLogArgs(context),
  ],
  // The keeper may read new files of the log, and not write to them.
  env: () => ({ UMASK: "0640" }),
  prepare: prepareLog,
  socketName: () => SOCKET_NAME,
  readyLine: /ready for connections/,
  readLogLine,
  firstData,
  apply: applySpec,
  restoreUsers,
  isReady,
  blockingActivity,
  users,
  reading,
  inspection,
  backup,
  stopSignal: "SIGTERM",
  stopTimeoutMs: 60_000,
  explain,
};

function limits({ memoryBytes, cpus, maxConnections }: MysqlSpec, machineBytes: number): Limits {
  return {
    memoryBytes: grantedMemory(memoryBytes, machineBytes),
    ...(cpus === null ? {} : { cpus }),
    maxConnections,
    maxProcesses: maxConnections + OWN_THREADS,
    enforcedBy: "engine",
  };
}

function explain(logTail: string): string {
  if (/Can't start server: Bind on TCP\/IP port.*in use/s.test(logTail)) {
    return "The port is in use by another program on this machine.";
  }
  if (/No space left on device|Error(?:code)?:? 28\b/.test(logTail)) return "The disk of the host is full.";
  const error = /\[ERROR\] (.*)/.exec(logTail);
  if (error !== null)
    return `MariaDB ended before it was ready: ${presentable(error[1] ?? "", MAX_REASON_CHARACTERS)}`;
  return "MariaDB ended before it was ready; its log on the host says why.";
}

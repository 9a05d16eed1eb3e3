// How the host runs a Postgres.
import { join } from "node:path";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import { presentable } from "../../lib/presentable.ts";
import { grantedMemory } from "../memory.ts";
import { CUSTOMER_OOM_SCORE, OWN_OOM_SCORE } from "../../lib/oom-score.ts";
import type { ForeignProgram } from "../foreign-program.ts";
import type { Engine } from "../engine.ts";
import { firstNumbers } from "../versions.ts";
import { program } from "./program.ts";
import { isReady } from "./admin.ts";
import { applySpec, restoreUsers } from "./apply.ts";
import { backup } from "./backup/index.ts";
import { assertFollows } from "./backup/replica.ts";
import { ensureLogAccess } from "./backup/log-access.ts";
import { configFiles, followingArgs, socketName } from "./config.ts";
import { creatableExtensions } from "./extensions.ts";
import { firstData } from "./initdb.ts";
import { inspection } from "./inspection.ts";
import { mockNonceOf } from "./mock-nonce.ts";
import { readLogLine } from "./log-line.ts";
import { reading } from "./reading.ts";
import { blockingActivity, users } from "./sessions.ts";
import { dropLargeStatistics } from "./statements.ts";

/** The longest error from the log, which may quote a customer's text. */
const MAX_REASON_CHARACTERS = 300;

/** Out of memory, the kernel must end the process of a session, never the process that all others depend on. */
const SESSIONS_FIRST = {
  PG_OOM_ADJUST_FILE: "/proc/self/oom_score_adj",
  PG_OOM_ADJUST_VALUE: String(CUSTOMER_OOM_SCORE),
};

/** Processes beside the customer's sessions: Pilvi's sessions, writers, parallel workers, autovacuum, read-ahead. */
const OWN_PROCESSES = 96;

export const postgres: Engine<PostgresSpec> & { program: ForeignProgram } = {
  name: "postgres",
  kind: "postgres",
  protocol: "postgres",
  program,
  majorOf: (version) => firstNumbers(version, 1),
  limits,
  files: configFiles,
  prepare: ensureLogAccess,
  beforeStart: (context) => {
    assertFollows(context);
    dropLargeStatistics(context);
  },
  args: (context) => [
    "-D",
    context.paths.dataDir,
    "-c",
    `config_file=${context.paths.confDir}/postgresql.conf`,
    // Nobody may subscribe, so no start waits for the process that starts the workers of subscriptions.
    "-c",
    "max_logical_replication_workers=0",
    ...followingArgs(context),
  ],
  socketName,
  pidFiles: ({ paths }) => [join(paths.dataDir, "postmaster.pid"), `${paths.socket}.lock`],
  readyLine: /database system is ready to accept (?:read-only )?connections/,
  readLogLine,
  firstData,
  apply: applySpec,
  restoreUsers,
  isReady,
  blockingActivity,
  users,
  mockNonce: mockNonceOf,
  reading,
  inspection,
  backup,
  extensions: creatableExtensions,
  env: ({ spec }) => (isStore(spec) ? {} : SESSIONS_FIRST),
  fitsProcessLimit: true,
  oomScore: (spec) => (isStore(spec) ? OWN_OOM_SCORE : 0),
  // SIGINT is Postgres' fast shutdown: it ends the sessions and writes everything.
  stopSignal: "SIGINT",
  stopTimeoutMs: 60_000,
  explain,
};

function limits({ memoryBytes, cpus, maxConnections }: PostgresSpec, machineBytes: number): Limits {
  return {
    memoryBytes: grantedMemory(memoryBytes, machineBytes),
    ...(cpus === null ? {} : { cpus }),
    maxConnections,
    maxProcesses: maxConnections + OWN_PROCESSES,
    enforcedBy: "engine",
  };
}

/** The store is Pilvi's own, and has no port. */
function isStore({ exposure }: PostgresSpec): boolean {
  return exposure.port === null;
}

function explain(logTail: string): string {
  const taken = /could not bind IPv4 address ".*": Address already in use/.exec(logTail);
  if (taken !== null) return "The port is in use by another program on this machine.";
  if (logTail.includes("No space left on device")) return "The disk of the host is full.";
  const fatal = /(?:FATAL|PANIC): {1,2}(.*)/.exec(logTail);
  if (fatal !== null)
    return `Postgres ended before it was ready: ${presentable(fatal[1] ?? "", MAX_REASON_CHARACTERS)}.`;
  return "Postgres ended before it was ready; its log on the host says why.";
}

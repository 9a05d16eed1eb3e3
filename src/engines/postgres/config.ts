// The configuration files of a Postgres, made from a spec.
import { join } from "node:path";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import { ownPort, type EngineContext } from "../engine.ts";
import { hostUser } from "../host-user.ts";
import { megabytes } from "../memory.ts";
import { followedTimeline } from "./backup/lineage.ts";
import { readControlFile } from "./control-file.ts";
import { majorOf } from "./major-version.ts";

/** The port in the name of the socket, for a Postgres without a port. */
const USUAL_PORT = 5432;

/** The role that the host logs in as. It has no password: the kernel proves the host's user at the socket. */
export const ADMIN_NAME = "pilvi_admin";

/**
 * Where the administrator's statements find functions, operators and types: in no schema of a customer, whose function
 * of a better fitting type would run with the rights of the administrator (CVE-2018-1058).
 */
export const SAFE_SEARCH_PATH = "pg_catalog, pg_temp";

/** A setting that every role may give itself, and that then makes every login of the role fail. */
export const LOGIN_BREAKER = "local_preload_libraries";

/** Larger settings of a role or a database are not searched for a login breaker: they may have any size. */
export const MAX_SETTINGS_BYTES = 64 * 1024;

/** Sessions that Pilvi may have beside the customer's, and as many that no customer can take. */
const OWN_CONNECTIONS = 5;

/** Postgres names its socket itself, after its port. */
export function socketName({ exposure }: PostgresSpec): string {
  return `.s.PGSQL.${exposure.port ?? USUAL_PORT}`;
}

/** All files of the configuration folder. */
export function configFiles(context: EngineContext<PostgresSpec>): Record<string, string> {
  const { keepsLog, replicaOf } = context.spec;
  const ofLog = [...(keepsLog === true ? KEPT_LOG : []), ...(replicaOf === undefined ? [] : FOLLOWING)];
  const settings = [...places(context), ...sizes(context), ...reading(context), ...FIXED, ...ofLog];
  return {
    "postgresql.conf": `${settings.join("\n")}\n`,
    "pg_hba.conf": `${accessRules(context).join("\n")}\n`,
    "pg_ident.conf": `host "${hostUser("Postgres")}" ${ADMIN_NAME}\n`,
  };
}

const FIXED = [
  "unix_socket_permissions = 0770",
  "password_encryption = scram-sha-256",
  "shared_preload_libraries = 'pg_stat_statements'",
  // The engine reserves memory for so many statements; its default of 5,000 takes 1 to 2 MB more.
  "pg_stat_statements.max = 1000",
  "wal_level = replica",
  "max_wal_senders = 0",
  "min_wal_size = 32MB",
  "jit = off",
  "huge_pages = off",
  "logging_collector = off",
  "log_line_prefix = '%m [%p] '",
  // A failed statement may hold a password.
  "log_min_error_statement = panic",
  "log_timezone = 'UTC'",
  "timezone = 'UTC'",
  "lc_messages = 'C'",
];

/** Settings of a Postgres that keeps its log. */
const KEPT_LOG = [
  // The slot of the archive, and one for each backup under way.
  "max_replication_slots = 4",
  // So much may a target cost that cannot be reached; beyond it the log in the archive ends.
  "max_slot_wal_keep_size = 4GB",
  "wal_compression = on",
];

/** Settings of a replica. */
const FOLLOWING = [
  "hot_standby = on",
  // How often Postgres looks for more log.
  "wal_retrieve_retry_interval = 250ms",
  // The host writes all segments, so none of the former may get the name of a later one.
  "wal_recycle = off",
  // Each start is the host's, which looks first whether it would be that of a replica.
  "restart_after_crash = off",
];

function places({ paths, spec, address }: EngineContext<PostgresSpec>): string[] {
  const { port } = spec.exposure;
  return [
    `data_directory = ${quoted(paths.dataDir)}`,
    `hba_file = ${quoted(join(paths.confDir, "pg_hba.conf"))}`,
    `ident_file = ${quoted(join(paths.confDir, "pg_ident.conf"))}`,
    `listen_addresses = ${quoted(ownPort(spec.exposure) === null ? "" : address)}`,
    `port = ${port ?? USUAL_PORT}`,
    // Relative to the data folder, since the path of a socket must be short.
    "unix_socket_directories = '../run'",
  ];
}

function sizes({ limits, spec }: EngineContext<PostgresSpec>): string[] {
  const { memoryBytes } = limits;
  return [
    `shared_buffers = ${megabytes(memoryBytes / 8, { min: 32, max: 2048 })}MB`,
    `effective_cache_size = ${megabytes(memoryBytes * 0.75, { min: 64, max: 1024 ** 2 })}MB`,
    `work_mem = ${megabytes(memoryBytes / 256, { min: 2, max: 32 })}MB`,
    `maintenance_work_mem = ${megabytes(memoryBytes / 16, { min: 16, max: 1024 })}MB`,
    // Each start clears them. The default takes four times as many, which is 3 ms of a start.
    `wal_buffers = ${megabytes(memoryBytes / 1024, { min: 1, max: 16 })}MB`,
    `max_connections = ${connectionsOf(spec)}`,
    `superuser_reserved_connections = ${OWN_CONNECTIONS}`,
    `max_parallel_workers_per_gather = ${Math.min(2, Math.floor(spec.cpus ?? 2))}`,
  ];
}

/**
 * From version 18 on, processes of the engine read ahead for its sessions. They cost an eighth of each start, and an engine
 * with at most one processor reads no faster with them: bitmap scans of cold tables took half as long again.
 */
function reading({ installed, spec }: EngineContext<PostgresSpec>): string[] {
  if (majorOf(installed) < 18 || (spec.cpus ?? 2) > 1) return [];
  return ["io_method = sync", "io_max_concurrency = 8"];
}

/** The connections of customers and of Pilvi. The engine keeps some for superusers, and counts those in use by Pilvi. */
function connectionsOf({ maxConnections }: PostgresSpec): number {
  return maxConnections + 2 * OWN_CONNECTIONS;
}

/**
 * Arguments of a replica. It may have no fewer connections than its primary had when it wrote the log, and it follows
 * that log onto the timeline of its end, but onto none that Postgres would choose by itself.
 */
export function followingArgs({ spec, paths }: EngineContext<PostgresSpec>): string[] {
  if (spec.replicaOf === undefined) return [];
  const control = readControlFile(paths.dataDir);
  const timeline = followedTimeline(paths.dataDir);
  const isLater = timeline !== null && timeline > (control?.timeline ?? timeline);
  const least = control?.maxConnections ?? 0;
  return [
    "-c",
    `recovery_target_timeline=${isLater ? timeline : "current"}`,
    ...(least <= connectionsOf(spec) ? [] : ["-c", `max_connections=${least}`]),
  ];
}

/** The administrator logs in through the socket only; every other role proves a password. */
function accessRules({ spec }: EngineContext<PostgresSpec>): string[] {
  const local = [`local all ${ADMIN_NAME} peer map=host`, "local all all scram-sha-256"];
  if (ownPort(spec.exposure) === null) return local;
  return [...local, `host all ${ADMIN_NAME} all reject`, "host all all all scram-sha-256"];
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

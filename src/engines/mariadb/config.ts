// The configuration file of a MariaDB, made from a spec.
import { join, relative } from "node:path";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import { ownPort, type EngineContext } from "../engine.ts";
import type { InstalledEngine } from "../installed-engine.ts";
import { megabytes } from "../memory.ts";
import { logSettings } from "./backup/binary-log.ts";

/** The unix socket's name in the run folder. */
export const SOCKET_NAME = "engine.sock";

/** Sessions that Pilvi may have beside the customer's. The engine itself keeps one more for the administrator. */
const OWN_CONNECTIONS = 5;

/** All files of the configuration folder. */
export function configFiles(context: EngineContext<MysqlSpec>): Record<string, string> {
  const lines = [
    ...places(context),
    ...network(context),
    ...sizes(context),
    ...FIXED,
    ...logSettings(context),
  ];
  return { "mariadb.cnf": `[mariadbd]\n${lines.join("\n")}\n` };
}

const FIXED = [
  "skip-name-resolve",
  "character-set-server=utf8mb4",
  "default-time-zone=+00:00",
  "innodb_flush_log_at_trx_commit=1",
  "sync_binlog=1",
  "innodb_log_file_size=32M",
  // As much as MySQL takes. A row takes up to twice its size in a dump, so a row of 16 MB, the default here, could not
  // be restored.
  "max_allowed_packet=64M",
  "performance_schema=OFF",
  // Customers may make events but cannot turn on the scheduler that runs them; MySQL has it on by default.
  "event_scheduler=ON",
  "symbolic-links=0",
  "log_warnings=1",
];

function places({ paths, installed }: EngineContext<MysqlSpec>): string[] {
  return [
    `datadir=${paths.dataDir}`,
    // In a shared folder each start would remove the temporary tables of all other servers of the same user. The path
    // is relative to the data folder, because a colon in a path would begin another path.
    `tmpdir=${relative(paths.dataDir, paths.tmpDir)}`,
    // Relative to the data folder, since the path of a socket must be short.
    `socket=../run/${SOCKET_NAME}`,
    // A customer has no right to files of the server; this setting is a second barrier behind the first.
    `secure_file_priv=${paths.runDir}`,
    `pid-file=${join(paths.runDir, "engine.pid")}`,
    ...programPlaces(installed),
  ];
}

/** A MariaDB that was unpacked elsewhere does not find its own files, which it expects under /usr. */
export function programPlaces({ origin, home }: InstalledEngine): string[] {
  if (origin !== "store") return [];
  const share = join(home, "usr/share/mysql");
  return [
    `basedir=${join(home, "usr")}`,
    `plugin-dir=${join(home, "usr/lib/mysql/plugin")}`,
    `lc-messages-dir=${share}`,
    `character-sets-dir=${join(share, "charsets")}`,
  ];
}

function network({ spec, address }: EngineContext<MysqlSpec>): string[] {
  const port = ownPort(spec.exposure);
  return port === null ? ["skip-networking"] : [`port=${port}`, `bind-address=${address}`];
}

function sizes({ limits, spec }: EngineContext<MysqlSpec>): string[] {
  const { memoryBytes } = limits;
  return [
    `innodb_buffer_pool_size=${megabytes(memoryBytes * 0.4, { min: 32, max: 1024 ** 2 })}M`,
    `max_connections=${spec.maxConnections + OWN_CONNECTIONS}`,
    "key_buffer_size=8M",
    "aria_pagecache_buffer_size=8M",
  ];
}

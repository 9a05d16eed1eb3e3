// The configuration files of a Postgres, made from a spec.
import { join } from "node:path";
import type { PostgresSpec } from "../../drivers/driver.ts";
import type { EngineContext } from "../engine.ts";

/** Postgres names its socket itself, after the port it would have. */
export const SOCKET_NAME = ".s.PGSQL.5432";

/** All files of the configuration folder. */
export function configFiles({ paths }: EngineContext<PostgresSpec>): Record<string, string> {
  const settings = [
    `data_directory = ${quoted(paths.dataDir)}`,
    `hba_file = ${quoted(join(paths.confDir, "pg_hba.conf"))}`,
    `ident_file = ${quoted(join(paths.confDir, "pg_ident.conf"))}`,
    "listen_addresses = ''",
    // As seen from the data folder: a socket's path may be short only.
    "unix_socket_directories = '../run'",
    "unix_socket_permissions = 0770",
    "password_encryption = scram-sha-256",
    "shared_buffers = 32MB",
    "max_connections = 100",
    "wal_level = minimal",
    "max_wal_senders = 0",
    "jit = off",
    "huge_pages = off",
    "logging_collector = off",
    "log_line_prefix = '%m [%p] '",
    "log_timezone = 'UTC'",
    "timezone = 'UTC'",
    "lc_messages = 'C'",
  ];
  return {
    "postgresql.conf": `${settings.join("\n")}\n`,
    "pg_hba.conf": "local all all scram-sha-256\n",
    "pg_ident.conf": "",
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

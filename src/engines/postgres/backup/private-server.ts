// A Postgres over restored data that nobody but the host can reach: at a unix socket in a folder of the restore.
import { join, relative } from "node:path";
import { PublicError } from "../../../lib/errors.ts";
import { writeForeign } from "../../../lib/foreign-file.ts";
import type { RestoreContext, RestoreProcess } from "../../backup.ts";
import { hostUser } from "../../host-user.ts";
import { commandOf } from "../../installed-engine.ts";
import { megabytes } from "../../memory.ts";
import { ADMIN_NAME, SAFE_SEARCH_PATH } from "../config.ts";
import { ServerLog } from "./server-log.ts";

/** How long an immediate end may take before the server is killed. */
const QUIT_TIMEOUT_MS = 6_000;

/** The socket of a private server is named after the port that it never opens. */
const SOCKET_NAME = ".s.PGSQL.5432";

/** A running private server. */
export interface PrivateServer {
  log: ServerLog;
  /** As `asAdmin` needs it. */
  paths: { socket: string };
  /** Resolves with true when it takes connections, and with false when it has ended. */
  ready: Promise<boolean>;
  /** Ends it cleanly, with all data on the disk. @throws PublicError when it did not end so. */
  stop(): Promise<void>;
  /** Ends it at once, if it runs. */
  quit(): Promise<void>;
}

/**
 * Starts a server over the data of a restore.
 * @param settings in addition, as lines of a configuration file.
 */
export function startPrivately(context: RestoreContext, settings: string[]): PrivateServer {
  const { workDir, dataDir, account, installed } = context;
  const files = {
    "postgresql.conf": [...settingsOf(context), ...settings],
    "pg_hba.conf": [`local all ${ADMIN_NAME} peer map=host`],
    "pg_ident.conf": [`host "${hostUser("Postgres")}" ${ADMIN_NAME}`],
  };
  for (const [name, lines] of Object.entries(files))
    writeForeign(join(workDir, name), `${lines.join("\n")}\n`, account);
  const config = `config_file=${join(workDir, "postgresql.conf")}`;
  const process = context.start([...commandOf(installed), "-D", dataDir, "-c", config]);
  const log = new ServerLog(process.stderr);
  const paths = { socket: join(workDir, SOCKET_NAME) };
  const ready = Promise.race([log.ready, process.exited.then(() => false)]);
  return {
    log,
    paths,
    ready,
    stop: async () => await stop(process, log),
    quit: async () => await quit(process),
  };
}

async function stop(process: RestoreProcess, log: ServerLog): Promise<void> {
  process.kill("SIGINT");
  const code = await process.exited;
  if (code !== 0)
    throw new PublicError("Postgres did not end cleanly after the restore.", new Error(log.tail));
}

async function quit(process: RestoreProcess): Promise<void> {
  // Its processes end with it, and it removes its shared memory.
  process.kill("SIGQUIT");
  const timer = setTimeout(() => process.kill("SIGKILL"), QUIT_TIMEOUT_MS);
  await process.exited;
  clearTimeout(timer);
}

function settingsOf({ dataDir, workDir, limits }: RestoreContext): string[] {
  const shared = megabytes(limits.memoryBytes / 8, { min: 32, max: 2048 });
  const maintenance = megabytes(limits.memoryBytes / 16, { min: 16, max: 1024 });
  return [
    `hba_file = ${quoted(join(workDir, "pg_hba.conf"))}`,
    `ident_file = ${quoted(join(workDir, "pg_ident.conf"))}`,
    `unix_socket_directories = ${quoted(relative(dataDir, workDir))}`,
    `shared_buffers = ${shared}MB`,
    `maintenance_work_mem = ${maintenance}MB`,
    ...FIXED,
  ];
}

const FIXED = [
  "listen_addresses = ''",
  "port = 5432",
  "unix_socket_permissions = 0700",
  "max_connections = 10",
  "wal_level = replica",
  "max_wal_senders = 0",
  "min_wal_size = 32MB",
  // The host writes all of the data to the disk when the server has ended, and a copy that was not so far is made anew.
  "fsync = off",
  // So nothing is gained by checkpoints in the middle of the log.
  "checkpoint_timeout = 1d",
  "max_wal_size = 64GB",
  "autovacuum = off",
  "restart_after_crash = off",
  `search_path = '${SAFE_SEARCH_PATH}'`,
  "jit = off",
  "huge_pages = off",
  "logging_collector = off",
  "log_line_prefix = ''",
  "log_min_messages = log",
  "log_timezone = 'UTC'",
  "timezone = 'UTC'",
  "lc_messages = 'C'",
];

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

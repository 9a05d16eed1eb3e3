// Runs a server on restored data that no client can reach, with an account for the host and without one for copies.
import { join, relative } from "node:path";
import type { SQL } from "bun";
import { PublicError } from "../../../lib/errors.ts";
import { writeForeign } from "../../../lib/foreign-file.ts";
import { RestoreFault, type RestoreContext } from "../../backup.ts";
import { hostUser } from "../../host-user.ts";
import { commandOf } from "../../installed-engine.ts";
import { megabytes } from "../../memory.ts";
import { EngineEnded, withEngine } from "../../throw-away.ts";
import { asAdminAt, literal } from "../admin.ts";
import { programPlaces } from "../config.ts";
import { DROP_ACCOUNT } from "./account.ts";

const SOCKET = "engine.sock";
const INIT_FILE = "init.sql";

/** The server's words for a lack of something that another time may not lack. */
const IS_LACKING = /No space left on device|Cannot allocate memory|Out of memory|Too many open files/i;
const IS_DAMAGED = /\[ERROR\]|got signal/;

/**
 * Does the work as the administrator of a server on the data, and ends it cleanly then. Events of customers do not run.
 * @param more settings beside the usual ones.
 * @throws RestoreFault when the server cannot start with the data; PublicError when it ends for another reason.
 */
export async function withServer<T>(
  context: RestoreContext,
  work: (db: SQL) => Promise<T>,
  more: string[] = [],
): Promise<T> {
  const socket = join(context.workDir, SOCKET);
  writeInitFile(context);
  const engine = {
    argv: [...commandOf(context.installed), ...settings(context, more)],
    isReady: async () => await asAdminAt(socket, async (db) => Boolean(await db`select 1`)),
    stopSignal: "SIGTERM" as const,
  };
  try {
    return await withEngine(context, engine, async () => await asAdminAt(socket, work));
  } catch (error) {
    if (!(error instanceof EngineEnded)) throw error;
    const { said } = error.end;
    if (!IS_LACKING.test(said) && IS_DAMAGED.test(said))
      throw new RestoreFault("The backup is damaged: MariaDB cannot start with its data.", new Error(said));
    throw new PublicError("The server that reads the backup ended before it was done.", new Error(said));
  }
}

/** The server runs these statements before it takes connections, with all rights, and without a login. */
function writeInitFile({ workDir, account }: RestoreContext): void {
  const host = `${literal(hostUser("MariaDB"))}@localhost`;
  const statements = [
    DROP_ACCOUNT,
    // The data may come from a machine where another user runs Pilvi.
    `create user if not exists ${host} identified via unix_socket`,
    `grant all on *.* to ${host} with grant option`,
  ];
  const text = statements.map((statement) => `${statement};\n`).join("");
  writeForeign(join(workDir, INIT_FILE), text, account);
}

function settings({ installed, dataDir, workDir, limits }: RestoreContext, more: string[]): string[] {
  const options = [
    `datadir=${dataDir}`,
    // Relative to the data folder: the path of a socket must be short, and a colon would begin another folder.
    `socket=${relative(dataDir, join(workDir, SOCKET))}`,
    `tmpdir=${relative(dataDir, workDir)}`,
    `pid-file=${join(workDir, "engine.pid")}`,
    `init-file=${join(workDir, INIT_FILE)}`,
    ...programPlaces(installed),
    "skip-networking",
    "skip-slave-start",
    "event-scheduler=OFF",
    "performance-schema=OFF",
    "symbolic-links=0",
    "max-connections=10",
    "innodb-log-file-size=32M",
    // Nothing that is written here must outlive a power cut: the restore would begin anew.
    "innodb-flush-log-at-trx-commit=0",
    `innodb-buffer-pool-size=${megabytes(limits.memoryBytes * 0.4, { min: 32, max: 1024 ** 2 })}M`,
    ...more,
  ];
  return ["--no-defaults", ...options.map((option) => `--${option}`)];
}

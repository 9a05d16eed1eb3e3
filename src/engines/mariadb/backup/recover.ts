// Brings the unpacked data of a MariaDB to a state that it can start with, and starts a server on it once.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PublicError } from "../../../lib/errors.ts";
import { RestoreFault, type Recovered, type RestoreContext } from "../../backup.ts";
import { megabytes } from "../../memory.ts";
import { firstNumbers } from "../../versions.ts";
import { runToEnd } from "../../throw-away.ts";
import { backupProgram } from "./programs.ts";
import { replayLog } from "./replay.ts";
import { withServer } from "./server.ts";

/** What the program adds to the data, under its older and its newer name; no start needs it. */
const PREFIXES = ["xtrabackup", "mariadb_backup"];
const ADDED = ["checkpoints", "info", "binlog_info", "binlog_pos_innodb"];

/** What it writes at the end of its stream. */
const LAST_FILES = PREFIXES.map((prefix) => [`${prefix}_checkpoints`, `${prefix}_info`]);

/** A file that every data folder has. */
const SYSTEM_TABLESPACE = "ibdata1";

/** See `EngineBackup.recover`. */
export async function recover(context: RestoreContext): Promise<Recovered> {
  assertFits(context);
  if (context.facts.format === "mbstream") await prepare(context);
  else assertHas(context, [[SYSTEM_TABLESPACE]]);
  context.progress(0.5);
  if (context.recovery.kind === "time") return await replayLog(context, context.recovery);
  // A clone of stopped data would only be started twice: its first start finds the same faults.
  if (context.isLocalCopy !== true)
    await withServer(context, async (db) => await db`select count(*) from mysql.global_priv`);
  context.progress(1);
  return { reachedLsn: null, lastCommitAt: null };
}

/** A later version changes the system tables of an earlier one by a program of its own. */
function assertFits({ installed, facts: { engine } }: RestoreContext): void {
  if (engine.name === installed.name && engine.major === firstNumbers(installed.version, 2)) return;
  throw new RestoreFault(
    `The backup was made by ${engine.name} ${engine.version}, whose data ${installed.name} ${installed.version} does not take over.`,
  );
}

/** The pages were copied one after the other; the log that was copied with them makes them consistent. */
async function prepare(context: RestoreContext): Promise<void> {
  const { dataDir, installed, limits } = context;
  assertHas(context, LAST_FILES);
  const memory = megabytes(limits.memoryBytes * 0.4, { min: 32, max: 1024 ** 2 });
  const program = backupProgram(installed, "mariadb-backup");
  const { code, said } = await runToEnd(context, [
    ...program,
    "--no-defaults",
    "--prepare",
    `--target-dir=${dataDir}`,
    `--use-memory=${memory}M`,
  ]);
  if (code !== 0) throw notPrepared(code, said);
  const added = PREFIXES.flatMap((prefix) => ADDED.map((name) => `${prefix}_${name}`));
  for (const name of [...added, "backup-my.cnf"]) rmSync(join(dataDir, name), { force: true });
}

/** @param sets sets of names, of which one must be complete. */
function assertHas({ dataDir }: RestoreContext, sets: string[][]): void {
  if (sets.some((names) => names.every((name) => existsSync(join(dataDir, name))))) return;
  throw new RestoreFault("The backup is incomplete: its stream ends too early.");
}

function notPrepared(code: number | null, said: string): PublicError {
  const cause = new Error(said);
  if (/No space left on device/.test(said)) return new PublicError("The disk of the host is full.", cause);
  if (code === null && !/got signal/.test(said))
    return new PublicError("The program that prepares the backup was ended before it was done.", cause);
  return new RestoreFault("The backup is damaged: its data files cannot be made consistent.", cause);
}

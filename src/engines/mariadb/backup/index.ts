// How a MariaDB is backed up and restored: by its own backup program while it runs, as a copy of its folder else.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { MysqlSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import { readForeign } from "../../../lib/foreign-file.ts";
import type { ColdCopy, CopyCommand, EngineBackup, HotCopy, HotEnd } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { tarCreate, tarExtract } from "../../tar.ts";
import { asAdmin } from "../admin.ts";
import { BACKUP_USER, DROP_ACCOUNT, endSessions, leaveOutOfLog, makeAccount } from "./account.ts";
import { factsOfLog, log, LOG_FOLDER } from "./binary-log.ts";
import { backupProgram } from "./programs.ts";
import { recover } from "./recover.ts";
import { verify } from "./verify.ts";
import { Watch } from "./watch.ts";

/** What the program writes beside its stream, by its older and its newer name. */
const SIDE_FILES = ["xtrabackup", "mariadb_backup"].flatMap((name) => [
  `${name}_checkpoints`,
  `${name}_info`,
]);
const MAX_SIDE_FILE_BYTES = 65_536;

/** The most databases that the facts of a backup name. */
const MAX_DATABASES = 10_000;

export const backup: EngineBackup<MysqlSpec> = {
  log,
  begin,
  cold,
  unpack: ({ format }, dataDir, installed) =>
    format === "tar"
      ? tarExtract(dataDir)
      : [...backupProgram(installed, "mbstream"), "--extract", `--directory=${dataDir}`],
  recover,
  verify,
};

async function begin(context: EngineContext<MysqlSpec>): Promise<HotCopy> {
  const startedAt = new Date().toISOString();
  const program = backupProgram(context.installed, "mariadb-backup");
  removeSideFiles(context);
  const password = await asAdmin(context, makeAccount);
  const watch = new Watch(context);
  return {
    format: "mbstream",
    copy: hotCopy(context, program, password),
    explain: () => (watch.hasEndedCopy ? HELD_UP : null),
    end: async () => await endOf(context, watch, startedAt),
    close: async () => {
      await watch.stop();
      removeSideFiles(context);
      await dropAccount(context);
    },
  };
}

const HELD_UP =
  "A client changes tables, or writes to tables without transactions, for so long that the backup was put off.";

/** Statements that only read, and transactions, go on; the other locks are bounded by the watch. */
function hotCopy(
  { paths, installed }: EngineContext<MysqlSpec>,
  program: string[],
  password: string,
): CopyCommand {
  const argv = [
    ...program,
    "--no-defaults",
    "--backup",
    "--stream=mbstream",
    `--socket=${paths.socket}`,
    `--user=${BACKUP_USER}`,
    `--datadir=${paths.dataDir}`,
    `--target-dir=${paths.tmpDir}`,
    `--extra-lsndir=${paths.tmpDir}`,
    ...(installed.origin === "store" ? [`--plugin-dir=${join(installed.home, "usr/lib/mysql/plugin")}`] : []),
  ];
  return { argv, okExitCodes: [0], env: { MYSQL_PWD: password }, holdsLocks: true };
}

/** The copy has all commits up to the end of the log that it has copied, which is newer than most of its pages. */
async function endOf(context: EngineContext<MysqlSpec>, watch: Watch, startedAt: string): Promise<HotEnd> {
  await watch.stop();
  const notes = SIDE_FILES.map((name) => readForeign(join(context.paths.tmpDir, name), MAX_SIDE_FILE_BYTES));
  const copied = notes.join("\n");
  const end = /^last_lsn = (\d+)$/m.exec(copied)?.[1];
  if (end === undefined) throw new PublicError("The copy of the data does not say how new it is.");
  const completedAt = watch.latestBefore(BigInt(end)) ?? startedAt;
  const users = context.spec.users.map(({ name }) => name);
  const databases = await databasesIn(context);
  const [, file, byte] = LOG_POSITION.exec(copied) ?? [];
  const mysql = file === undefined ? null : factsOfLog(context, { file: Number(file), byte: Number(byte) });
  const ofLog = mysql === null ? {} : { mysql };
  return {
    facts: { format: "mbstream", startedAt, completedAt, postgres: null, ...ofLog, users, databases },
    rest: [],
  };
}

/** The end of the log at the moment that the copy is consistent at. */
const LOG_POSITION = /^binlog_pos = filename 'binlog\.(\d+)', position '(\d+)'/m;

async function databasesIn(context: EngineContext<MysqlSpec>): Promise<string[]> {
  const rows = await asAdmin(context, (db) =>
    db.unsafe<{ name: string }[]>(
      `select schema_name as name from information_schema.schemata
       where schema_name not in ('information_schema', 'mysql', 'performance_schema', 'sys')
       order by schema_name limit ${MAX_DATABASES}`,
    ),
  );
  return rows.map(({ name }) => name);
}

/** A server that was killed goes on from the same files as their copy. */
async function cold(context: EngineContext<MysqlSpec>): Promise<ColdCopy> {
  const { paths } = context;
  const now = new Date().toISOString();
  const argv = [...tarCreate(paths.dataDir), "--sparse", `--exclude=./${LOG_FOLDER}`, "."];
  const mysql = factsOfLog(context);
  const ofLog = mysql === null ? {} : { mysql };
  const facts = { format: "tar" as const, startedAt: now, completedAt: now, postgres: null, ...ofLog };
  return { copies: [{ argv, okExitCodes: [0] }], leftOut: [LOG_FOLDER], facts };
}

function removeSideFiles({ paths }: EngineContext<MysqlSpec>): void {
  for (const name of SIDE_FILES) rmSync(join(paths.tmpDir, name), { recursive: true, force: true });
}

/** An account that stays has an unknown password, and the next backup replaces it. */
async function dropAccount(context: EngineContext<MysqlSpec>): Promise<void> {
  try {
    await asAdmin(context, async (db) => {
      await endSessions(db);
      await leaveOutOfLog(db);
      await db.unsafe(DROP_ACCOUNT);
    });
  } catch {
    // The server has ended, or a client's lock is in the way.
  }
}

// The copy of a running Postgres: one session from its begin to its end, the data, and the log of that time.
import type { SQL } from "bun";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { HotCopy, HotEnd } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { holdAdmin, OWN_DATABASE } from "../admin.ts";
import { ADMIN_NAME } from "../config.ts";
import { readControlFile, segmentBytesOf } from "../control-file.ts";
import { majorOf } from "../major-version.ts";
import { copyOfData, copyOfLog } from "./copy.ts";
import { parseLabel } from "./label.ts";
import { parseLsn, segmentsOf } from "./lsn.ts";

/** From this version on, the functions have the names that they have today. */
const FIRST_MAJOR_WITH_BACKUP_FUNCTIONS = 15;

/** How long the checkpoint at the begin may take. */
const STATEMENT_TIMEOUT = "10min";

/** The program that copies the log gets a name for each segment of it, and a command line has a bound. */
const MAX_LOG_BYTES = 100n * 1024n ** 3n;

interface Stopped {
  lsn: string;
  labelfile: string;
  spcmapfile: string;
}

/** The time of the engine in microseconds. */
const NOW = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`;

/** See `EngineBackup.begin`. @throws PublicError when the engine refuses. */
export async function hotCopy(context: EngineContext<PostgresSpec>, backup: string): Promise<HotCopy> {
  const session = await holdAdmin(context, OWN_DATABASE);
  try {
    const startedAt = await begin(session.db, majorOf(context.installed), backup);
    return {
      format: "tar",
      copy: copyOfData(context.paths.dataDir),
      end: async () => await end(context, session.db, { backup, startedAt }),
      close: session.close,
    };
  } catch (error) {
    await session.close();
    throw new PublicError("The cluster cannot be backed up now.", error);
  }
}

/** @returns the time at which it began. */
async function begin(db: SQL, major: number, backup: string): Promise<string> {
  await db.unsafe(`set statement_timeout = '${STATEMENT_TIMEOUT}'`);
  // Keeps the log from here on, until the session ends.
  await db`select pg_create_physical_replication_slot('pilvi_copy_' || pg_backend_pid(), true, true)`;
  const [row] = await db.unsafe<{ now: string }[]>(`select ${NOW}`);
  if (row === undefined) throw new Error("Postgres gave no time");
  if (major >= FIRST_MAJOR_WITH_BACKUP_FUNCTIONS) await db`select pg_backup_start(${backup}, fast => true)`;
  else await db`select pg_start_backup(${backup}, true, false)`;
  return row.now;
}

async function end(
  context: EngineContext<PostgresSpec>,
  db: SQL,
  { backup, startedAt }: { backup: string; startedAt: string },
): Promise<HotEnd> {
  const stop =
    majorOf(context.installed) >= FIRST_MAJOR_WITH_BACKUP_FUNCTIONS
      ? "pg_backup_stop(wait_for_archive => false)"
      : "pg_stop_backup(false, false)";
  const [stopped] = await db.unsafe<Stopped[]>(`select lsn::text, labelfile, spcmapfile from ${stop}`);
  const [clock] = await db.unsafe<{ now: string }[]>(`select ${NOW}`);
  const label = parseLabel(stopped?.labelfile ?? "");
  if (stopped === undefined || clock === undefined || label?.name !== backup)
    throw new PublicError("The cluster was restarted during its backup.");
  if (stopped.spcmapfile !== "")
    throw new PublicError("The cluster has a tablespace, which no backup holds.");
  const control = readControlFile(context.paths.dataDir);
  if (control === null) throw new PublicError("The data of the cluster is gone.");
  const segmentBytes = segmentBytesOf(control);
  const { timeline, startLsn, startSegment } = label;
  const range = { first: parseLsn(startLsn), last: parseLsn(stopped.lsn) - 1n };
  if (range.last - range.first > MAX_LOG_BYTES)
    throw new PublicError("The cluster has written too much while it was backed up.");
  return {
    facts: {
      format: "tar",
      startedAt,
      completedAt: clock.now,
      users: await usersIn(db),
      databases: await databasesIn(db),
      postgres: {
        timeline,
        startLsn,
        endLsn: stopped.lsn,
        startSegment,
        segmentBytes,
        label: stopped.labelfile,
        checkpointLsn: null,
      },
    },
    rest: [copyOfLog(context.paths.dataDir, segmentsOf(timeline, range, segmentBytes))],
  };
}

/** The most names that the facts of a backup have. */
const MAX_NAMES = 1_000;

async function usersIn(db: SQL): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select rolname as name from pg_roles
    where rolname <> ${ADMIN_NAME} and not starts_with(rolname::text, 'pg_') order by oid limit ${MAX_NAMES}`;
  return rows.map(({ name }) => name);
}

async function databasesIn(db: SQL): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select datname as name from pg_database
    where not datistemplate and datname <> ${OWN_DATABASE} order by oid limit ${MAX_NAMES}`;
  return rows.map(({ name }) => name);
}

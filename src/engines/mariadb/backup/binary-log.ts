// The binary log of a MariaDB that keeps it: where it is, when it was begun, and what of it the server may delete.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { MysqlSpec } from "../../../contracts/instance-spec.ts";
import type { MysqlFacts } from "../../../contracts/keeper.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { EngineLog, LogStatus } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { shareLog } from "../../log-access.ts";
import { asAdmin, literal } from "../admin.ts";

/** The name of no database: a dash in the name of a database is written as other characters. */
export const LOG_FOLDER = "pilvi-log";

const FILE = /^binlog\.(\d{6,10})$/;
/** An empty file whose name says when the log was begun. */
const BEGUN = /^begun-([0-9A-F]{8})$/;

/** The keeper stores the files of a log in segments of this size. */
const SEGMENT_BYTES = 4 * 1024 ** 2;

/** So much may a target cost that cannot be reached; beyond it the log in the archive ends. */
const MAX_LOG_BYTES = 4 * 1024 ** 3;

/** The last event of a file that the server has closed. */
const STOP_EVENT = { type: 3, bytes: 23 };

/** Settings of a server that keeps its log. */
export function logSettings({ spec, paths }: EngineContext<MysqlSpec>): string[] {
  if (spec.keepsLog !== true) return [];
  return [
    ...logPlaces(paths.dataDir),
    "server_id=1",
    "binlog_format=ROW",
    "binlog_checksum=CRC32",
    "binlog_annotate_row_events=OFF",
    "max_binlog_size=4M",
    // A file has a single transaction at least, and positions in a file end at 4 GiB.
    "max_binlog_cache_size=3G",
    // The host purges files that are in the archive.
    "binlog_expire_logs_seconds=0",
    // Without it, customers could make no triggers and functions; rows are logged, so the functions are not run again.
    "log_bin_trust_function_creators=ON",
    // The time of a commit decides whether a restore has it, so a session must not choose its own.
    "secure_timestamp=REPLICATION",
  ];
}

/** Arguments of a server that ended in the middle of a commit before the log was turned off: it needs the log once more. */
export function lastLogArgs({ spec, paths }: EngineContext<MysqlSpec>): string[] {
  if (spec.keepsLog === true || !existsSync(join(paths.dataDir, LOG_FOLDER))) return [];
  return [...logPlaces(paths.dataDir), "binlog_expire_logs_seconds=600", "max_binlog_size=4M"].map(
    (setting) => `--${setting}`,
  );
}

function logPlaces(dataDir: string): string[] {
  return [`log_bin=${join(dataDir, LOG_FOLDER, "binlog")}`, `ignore_db_dirs=${LOG_FOLDER}`];
}

/** Begins the log that the spec asks for, or deletes the log that it does not ask for any more, before a start. */
export function prepareLog({ spec, paths, account, logReader }: EngineContext<MysqlSpec>): void {
  const { dataDir } = paths;
  const folder = join(dataDir, LOG_FOLDER);
  const isKept = spec.keepsLog === true;
  if (isKept) beginLog(folder);
  else if (existsSync(folder) && isClosed(folder)) rmSync(folder, { recursive: true, force: true });
  const isThere = existsSync(folder);
  shareLog({ dataDir, folder: isThere ? folder : null, account, reader: isKept ? logReader : null });
}

function beginLog(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
  if (begunIn(folder) !== null) return;
  const second = Math.floor(Date.now() / 1000)
    .toString(16)
    .toUpperCase()
    .padStart(8, "0");
  closeSync(openSync(join(folder, `begun-${second}`), "wx", 0o640));
}

/** When the log in a folder was begun, in seconds since 1970; null when that is not known. */
function begunIn(folder: string): number | null {
  const digits = readdirSync(folder).map((name) => BEGUN.exec(name)?.[1]);
  const found = digits.find((each) => each !== undefined);
  return found === undefined ? null : Number.parseInt(found, 16);
}

/** The newest file of a log with its size; null when there is none. */
function newestIn(folder: string): { name: string; file: number; size: number } | null {
  const numbers = readdirSync(folder).flatMap((name) => {
    const file = FILE.exec(name)?.[1];
    return file === undefined ? [] : [{ name, file: Number(file) }];
  });
  const newest = numbers.sort((a, b) => a.file - b.file).at(-1);
  return newest === undefined ? null : { ...newest, size: lstatSync(join(folder, newest.name)).size };
}

/** Whether the server has ended cleanly: else commits may wait that only the log decides about. */
function isClosed(folder: string): boolean {
  const newest = newestIn(folder);
  if (newest === null) return true;
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(join(folder, newest.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const event = new Uint8Array(STOP_EVENT.bytes);
    const from = fstatSync(fd).size - STOP_EVENT.bytes;
    if (from < 0 || readSync(fd, event, 0, event.length, from) < event.length) return false;
    return event[4] === STOP_EVENT.type && event[9] === STOP_EVENT.bytes;
  } finally {
    closeSync(fd);
  }
}

/**
 * Where the log goes on after a copy; null for a server without a log.
 * @param position the file and the byte up to which the copy has all commits; left out for a server that was stopped.
 */
export function factsOfLog(
  { spec, paths }: EngineContext<MysqlSpec>,
  position?: { file: number; byte: number },
): MysqlFacts | null {
  const folder = join(paths.dataDir, LOG_FOLDER);
  const timeline = spec.keepsLog === true && existsSync(folder) ? begunIn(folder) : null;
  const newest = timeline === null ? null : newestIn(folder);
  const place = position ?? (newest === null ? null : { file: newest.file, byte: newest.size });
  if (timeline === null || place === null) return null;
  return {
    timeline,
    startLsn: `${hex(place.file)}/${hex(place.byte)}`,
    startSegment: [timeline, place.file, 0].map((part) => hex(part).padStart(8, "0")).join(""),
    segmentBytes: SEGMENT_BYTES,
    endedAt: new Date((Math.floor(Date.now() / 1000) + 1) * 1000).toISOString(),
  };
}

function hex(value: number): string {
  return value.toString(16).toUpperCase();
}

export const log: EngineLog<MysqlSpec> = {
  format: "binlog",
  folder: (dataDir) => join(dataDir, LOG_FOLDER),
  segmentBytes: (dataDir) => {
    if (existsSync(join(dataDir, LOG_FOLDER))) return SEGMENT_BYTES;
    throw new PublicError("The log begins with the next start of the cluster.");
  },
  isKept: ({ keepsLog }) => keepsLog === true,
  status,
  release,
  replica: null,
};

/** Beyond its bound, a log ends for the archive, so that the disk does not fill up. */
async function status(context: EngineContext<MysqlSpec>): Promise<LogStatus> {
  return await asAdmin(context, async (db) => {
    const files = await db.unsafe<{ Log_name: string; File_size: number }[]>("show binary logs");
    const newest = files.at(-1);
    if (newest === undefined) throw new Error("MariaDB has no binary log");
    const bytes = files.reduce((sum, { File_size: size }) => sum + Number(size), 0);
    const isWhole = bytes <= MAX_LOG_BYTES;
    if (!isWhole) await db.unsafe(`purge binary logs to ${literal(newest.Log_name)}`);
    const file = Number(FILE.exec(newest.Log_name)?.[1]);
    return { isWhole, lsn: `${hex(file)}/${hex(Number(newest.File_size))}` };
  });
}

async function release(context: EngineContext<MysqlSpec>, lsn: string): Promise<void> {
  const file = Number.parseInt(lsn, 16);
  await asAdmin(context, async (db) => {
    const files = await db.unsafe<{ Log_name: string }[]>("show binary logs");
    const name = files
      .map(({ Log_name: each }) => each)
      .find((each) => Number(FILE.exec(each)?.[1]) === file);
    if (name !== undefined) await db.unsafe(`purge binary logs to ${literal(name)}`);
  });
}

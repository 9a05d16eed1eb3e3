// The binary log that came with a restore: put together from its segments, checked, and cut at the instant.
import {
  chownSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { FileScan, type LogMark, type ScannedFile } from "../../../lib/binary-log.ts";
import { RestoreFault, type RestoreContext } from "../../backup.ts";

export const FIRST_EVENT_AT = 4;

const SEGMENT = /^[0-9A-F]{8}([0-9A-F]{8})[0-9A-F]{8}$/;

/** A file of the log. */
export interface LogFile extends ScannedFile {
  number: number;
  bytes: number;
}

/** A place in the log. */
export interface LogPosition {
  file: number;
  byte: number;
}

/** The name of a file as the engine of the source wrote it. */
export function binlogName(number: number): string {
  return `binlog.${padded(number)}`;
}

/** Its name in the restored data, where a server takes it for what it got from another server. */
export function relayName(number: number): string {
  return `relay.${padded(number)}`;
}

function padded(number: number): string {
  return String(number).padStart(6, "0");
}

/** @param lsn the number of a file and a byte in it, such as `7/1A4`. */
export function parsePosition(lsn: string): LogPosition {
  const [file = 0, byte = 0] = lsn.split("/").map((digits) => Number.parseInt(digits, 16));
  return { file, byte };
}

/**
 * Puts the files together from their segments. The unpacked data may have brought a link in the place of any of them, and
 * its program could not read what that leads to.
 * @throws RestoreFault when a file is missing.
 */
export async function assembleLog({ account, signal }: RestoreContext, folder: string): Promise<LogFile[]> {
  if (!lstatSync(folder).isDirectory()) throw foreign();
  const files: LogFile[] = [];
  const segments = readdirSync(folder).flatMap((name) => {
    const digits = SEGMENT.exec(name)?.[1];
    return digits === undefined ? [] : [{ name, number: Number.parseInt(digits, 16) }];
  });
  const byFile = Map.groupBy(
    segments.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ({ number }) => number,
  );
  for (const [number, parts] of byFile) {
    const before = files.at(-1);
    if (before !== undefined && number !== before.number + 1) throw missing(before.number + 1);
    const scan = new FileScan();
    const path = join(folder, relayName(number));
    let bytes = 0;
    const fd = openSync(path, "wx", 0o600);
    try {
      for (const { name } of parts) {
        signal.throwIfAborted();
        if (!lstatSync(join(folder, name)).isFile()) throw foreign();
        const part = readFileSync(join(folder, name));
        for (let done = 0; done < part.length;) done += writeSync(fd, part, done);
        scan.push(part);
        bytes += part.length;
        rmSync(join(folder, name));
        await new Promise(setImmediate);
      }
    } finally {
      closeSync(fd);
    }
    if (account !== null) chownSync(path, account.uid, account.gid);
    files.push({ number, bytes, ...scan.scanned });
  }
  return files;
}

/** Where the replay ends, and what it has to apply. */
interface Cut {
  files: LogFile[];
  /** The second of the last commit before the end; null when there is none. */
  lastCommitAt: number | null;
}

/**
 * Finds the first file or commit of a second, and leaves it and all later ones out. When there is none, the log has to
 * reach a position.
 * @throws RestoreFault when the log is damaged before, or too short.
 */
export function cutLog(
  files: LogFile[],
  second: number,
  { start, mustReach }: { start: LogPosition; mustReach: LogPosition },
): Cut {
  const kept: LogFile[] = [];
  let lastCommitAt: number | null = null;
  const first = files[0];
  if (first?.number !== start.file) throw missing(start.file);
  if (first.damagedAt === null && first.eventEnd < start.byte) throw missing(start.file);
  for (const file of files) {
    const from = file === first ? start.byte : 0;
    const marks = file.marks.filter((mark) => mark.from >= from);
    const end = marks.find(({ atSeconds }) => atSeconds >= second)?.from;
    if (end === undefined && file.damagedAt !== null) throw damaged(file);
    const before = marks.filter((mark) => end === undefined || mark.from < end);
    lastCommitAt = before.findLast(isGroup)?.atSeconds ?? lastCommitAt;
    const groupEnd = Math.min(end ?? file.groupEnd, file.groupEnd);
    if (groupEnd > from && before.length > 0) kept.push({ ...file, groupEnd });
    if (end !== undefined) return { files: kept, lastCommitAt };
  }
  const last = files.at(-1) ?? first;
  const isReached =
    last.number > mustReach.file || (last.number === mustReach.file && last.bytes >= mustReach.byte);
  if (!isReached) throw missing(last.number === mustReach.file ? last.number : last.number + 1);
  return { files: kept, lastCommitAt };
}

/** The first mark is that of the file itself. */
function isGroup({ from }: LogMark): boolean {
  return from > FIRST_EVENT_AT;
}

function missing(number: number): RestoreFault {
  return new RestoreFault(`The binary log ${binlogName(number)}, or a part of it, is missing.`);
}

function foreign(): RestoreFault {
  return new RestoreFault("The data of the backup has something else in the place of its log.");
}

function damaged({ number, damagedAt }: LogFile): RestoreFault {
  return new RestoreFault(`The binary log ${binlogName(number)} is damaged at byte ${damagedAt}.`);
}

/** Leaves in the folder what a cut keeps, with a list of it as the server expects it. */
export function writeCut({ account }: RestoreContext, folder: string, files: LogFile[]): void {
  const names = new Set(files.map(({ number }) => relayName(number)));
  for (const name of readdirSync(folder))
    if (!names.has(name)) rmSync(join(folder, name), { recursive: true });
  for (const { number, groupEnd } of files) truncateSync(join(folder, relayName(number)), groupEnd);
  const list = join(folder, "relay.index");
  writeFileSync(`${list}.new`, files.map(({ number }) => `${join(folder, relayName(number))}\n`).join(""), {
    mode: 0o600,
  });
  if (account !== null) chownSync(`${list}.new`, account.uid, account.gid);
  renameSync(`${list}.new`, list);
}

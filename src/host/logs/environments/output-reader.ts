// Follows what an application writes into its file, and brings it into the log of its environment, each line once.
import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { codeOf } from "../../../lib/errors.ts";
import { openUnleased } from "../../../lib/leases.ts";
import { KEPT_BYTES } from "../../os/engine-log.ts";
import { entriesOf, type OutputLine } from "./application-entries.ts";
import type { EnvironmentLog } from "./environment-log.ts";

/** How much of an application's output is read in a turn, so that no application takes the time of others. */
const TURN_BYTES_OF_PROCESS = 256 * 1024;

/** How many lines that may be: a short line takes the host hardly less time than a longer one. */
const TURN_LINES = 2_000;

/** The least that a line takes of the bytes of a turn, also when nothing is written of it. */
const LINE_COST_BYTES = 256;

/** How much is written of it: as much as such lines take, and less than characters that are escaped may become. */
const MAX_WRITTEN_BYTES = TURN_LINES * LINE_COST_BYTES;

/** What is left at the end of a process is read at once, up to that of so many turns. */
const TURNS_AT_END = 4;

/** A longer line counts as several lines. */
const MAX_LINE_BYTES = 64 * 1024;

/** What is farther behind than this would be freed before it is read. */
const MAX_BEHIND_BYTES = KEPT_BYTES / 2;
/** How much of the end is read after such a leap. */
const KEPT_AFTER_LEAP = 1024 ** 2;

/** A process of an environment, and the file that it writes into. */
export interface LoggedProcess {
  id: string;
  environment: string;
  /** Null for a process whose deployment is not known. */
  deployment: string | null;
  path: string;
}

/** A file that is open, and how far it is read. */
interface OpenOutput {
  fd: number;
  size: number;
}

/** What a reading took. */
interface Reading {
  /** Of the bytes of a turn of the host. */
  bytes: number;
  /** Whether it ended since its time was over. */
  isCut: boolean;
}

const NOTHING: Reading = { bytes: 0, isCut: false };

/** How a part of the output is read. */
interface Part {
  /** Whether nothing follows for now. */
  isSettled: boolean;
  /** Whether the process writes nothing any more, so that a last line needs no end. */
  isEnded: boolean;
  maxLines: number;
  maxWrittenBytes: number;
  /** Asked after each entry; the first is always written. */
  isInTime: () => boolean;
}

const TURN = { maxLines: TURN_LINES, maxWrittenBytes: MAX_WRITTEN_BYTES };
const END = { isSettled: true, isEnded: true };
/** Its lines were counted before. */
const LAST = { ...END, maxLines: Infinity, maxWrittenBytes: Infinity, isInTime: () => true };

export class OutputReader {
  /** The size of each file in the turn before. */
  readonly #sizes = new Map<string, number>();

  /** Reads what is new of a process, up to the bounds of a turn, and as long as it is in time. */
  read(log: EnvironmentLog, process: LoggedProcess, isInTime: () => boolean): Reading {
    return withFile(process.path, (file) => {
      const isSettled = this.#sizes.get(process.id) === file.size;
      const reading = take(log, process, file, { ...TURN, isSettled, isEnded: false, isInTime });
      // What was cut goes on before the process had the time to write more.
      if (reading.isCut) this.#sizes.delete(process.id);
      else this.#sizes.set(process.id, file.size);
      return reading;
    });
  }

  /**
   * Reads what is left of a process that writes nothing any more. When that is too much to be read at once, or in time,
   * the first and the last of it are read.
   */
  readEnd(log: EnvironmentLog, process: LoggedProcess, isInTime: () => boolean): void {
    this.#sizes.delete(process.id);
    withFile(process.path, (file) => {
      for (let turn = 1; turn < TURNS_AT_END && isInTime(); turn += 1)
        take(log, process, file, { ...TURN, ...END, isInTime });
      const last = lastPart(file);
      if (startOf(log, process, file) < last) leaveOut(log, process, file, last);
      return take(log, process, file, LAST);
    });
  }
}

/** A file that is missing, or that a process has a lease on, has nothing to read. */
function withFile(path: string, task: (file: OpenOutput) => Reading): Reading {
  let fd: number | null;
  try {
    fd = openUnleased(path, constants.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return NOTHING;
    throw error;
  }
  if (fd === null) return NOTHING;
  try {
    return task({ fd, size: fstatSync(fd).size });
  } finally {
    closeSync(fd);
  }
}

/** Reads a part of the output, and writes its entries. */
function take(log: EnvironmentLog, process: LoggedProcess, file: OpenOutput, part: Part): Reading {
  const { size } = file;
  if (size - startOf(log, process, file) > MAX_BEHIND_BYTES)
    leaveOut(log, process, file, size - KEPT_AFTER_LEAP);
  const from = startOf(log, process, file);
  if (from === size) return NOTHING;
  const bytes = bytesOf(file, from);
  const reachesEnd = from + bytes.length >= size;
  const lines = linesOf(bytes, from, reachesEnd && part.isEnded, part.maxLines);
  const isAll = reachesEnd && lines.length < part.maxLines;
  let { entries, end, isCut } = entriesOf(lines, isAll && part.isSettled, part.isInTime);
  // An exception that a turn cannot read as a whole is cut.
  if (end === null && !isAll) ({ entries, end, isCut } = entriesOf(lines, true, part.isInTime));
  const of = originOf(process);
  const written = log.append(
    entries.map((entry) => Object.assign(entry, of)),
    part.maxWrittenBytes,
  );
  // Entries that were not written any more are read again.
  if (written.count < entries.length) end = entries[written.count - 1]?.o ?? null;
  if (end !== null) log.processes.noteRead(process.id, end);
  const examinedBytes = (lines.at(-1)?.end ?? from) - from;
  return { bytes: Math.max(examinedBytes, written.bytes, lines.length * LINE_COST_BYTES), isCut };
}

/** Where the output goes on. A file that the host has begun anew is shorter than what was read. */
function startOf(log: EnvironmentLog, { id }: LoggedProcess, { size }: OpenOutput): number {
  const from = log.positionOf(id);
  return from > size ? 0 : from;
}

/** Leaves out the output up to an offset, and says so. */
function leaveOut(log: EnvironmentLog, process: LoggedProcess, file: OpenOutput, to: number): void {
  const left = to - startOf(log, process, file);
  const m = `${left} bytes of output are missing here: the application writes faster than its log is kept.`;
  log.append([{ ...originOf(process), l: "warning", y: "system", m, o: to }]);
}

function originOf({ id, deployment }: LoggedProcess): { i: string; d?: string } {
  return { i: id, ...(deployment !== null && { d: deployment }) };
}

/** Where the last lines begin that can be read in a turn. */
function lastPart(file: OpenOutput): number {
  const start = Math.max(0, file.size - TURN_BYTES_OF_PROCESS);
  const bytes = bytesOf(file, start);
  let at = bytes.length;
  for (let lines = 0; lines < TURN_LINES && at > 0; lines += 1)
    at = at < 2 ? 0 : bytes.lastIndexOf(0x0a, at - 2) + 1;
  // What begins amid a line goes on with the next one.
  return start + (at === 0 && start > 0 ? bytes.indexOf(0x0a) + 1 : at);
}

/** The bytes from an offset on, as many as a turn reads. */
function bytesOf({ fd, size }: OpenOutput, from: number): Buffer {
  const buffer = Buffer.alloc(Math.min(TURN_BYTES_OF_PROCESS, size - from));
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
}

/** The first whole lines. @param takesRest whether a last line without an end counts. */
function linesOf(bytes: Buffer, from: number, takesRest: boolean, maxLines: number): OutputLine[] {
  const lines: OutputLine[] = [];
  for (let at = 0; at < bytes.length && lines.length < maxLines;) {
    const newline = bytes.indexOf(0x0a, at);
    const end = newline < 0 ? bytes.length : newline;
    const isLong = end - at > MAX_LINE_BYTES;
    if (newline < 0 && !takesRest && !isLong) break;
    const stop = isLong ? at + MAX_LINE_BYTES : end;
    const text = bytes.toString("utf8", at, stop).replace(/\r$/, "");
    at = isLong ? stop : end + (newline < 0 ? 0 : 1);
    lines.push({ text, end: from + at });
  }
  return lines;
}

// Follows what an application writes into its file, and brings it into the log of its environment, each line once.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { codeOf } from "../../../lib/errors.ts";
import { KEPT_BYTES } from "../../os/engine-log.ts";
import { entriesOf, type OutputLine } from "./application-entries.ts";
import type { EnvironmentLog } from "./environment-log.ts";

/** How much of an application's output is read in a turn, so that no application takes the time of others. */
const TURN_BYTES = 256 * 1024;

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

export class OutputReader {
  /** The size of each file in the turn before. */
  readonly #sizes = new Map<string, number>();

  /**
   * Reads what is new of a process, up to the bytes of a turn.
   * @param isEnded whether the process writes nothing any more.
   * @returns the bytes that were read.
   */
  read(log: EnvironmentLog, process: LoggedProcess, isEnded = false): number {
    let fd: number;
    try {
      fd = openSync(process.path, "r");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return 0;
      throw error;
    }
    try {
      const { size } = fstatSync(fd);
      const isSettled = isEnded || this.#sizes.get(process.id) === size;
      this.#sizes.set(process.id, size);
      return this.#take(log, process, { fd, size, isSettled, isEnded });
    } finally {
      closeSync(fd);
    }
  }

  forget(instance: string): void {
    this.#sizes.delete(instance);
  }

  #take(
    log: EnvironmentLog,
    { id, deployment }: LoggedProcess,
    { fd, size, isSettled, isEnded }: { fd: number; size: number; isSettled: boolean; isEnded: boolean },
  ): number {
    const of = { i: id, ...(deployment !== null && { d: deployment }) };
    let from = log.positionOf(id);
    // A file that the host has begun anew is shorter than what was read.
    if (from > size) from = 0;
    if (size - from > MAX_BEHIND_BYTES) {
      const left = size - from - KEPT_AFTER_LEAP;
      from = size - KEPT_AFTER_LEAP;
      const m = `${left} bytes of output are missing here: the application writes faster than its log is kept.`;
      log.append([{ ...of, l: "warning", y: "system", m, o: from }]);
    }
    if (from === size) return 0;
    const buffer = Buffer.alloc(Math.min(TURN_BYTES, size - from));
    const bytes = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
    const isAll = from + bytes.length >= size;
    const lines = linesOf(bytes, from, isAll && isEnded);
    const { entries, end } = entriesOf(lines, (isAll && isSettled) || bytes.length === TURN_BYTES);
    log.append(entries.map((entry) => Object.assign(entry, of)));
    if (end === null) return 0;
    log.processes.noteRead(id, end);
    return end - from;
  }
}

/** The whole lines. @param takesRest whether a last line without an end counts. */
function linesOf(bytes: Buffer, from: number, takesRest: boolean): OutputLine[] {
  const lines: OutputLine[] = [];
  for (let at = 0; at < bytes.length;) {
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

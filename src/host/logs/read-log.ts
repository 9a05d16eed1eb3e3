// Answers questions about a log: a slice of its lines after a position, or as soon as it has further lines.
import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { MAX_MESSAGE_CHARACTERS, type LogLine, type LogQuery, type LogSlice } from "../../contracts/logs.ts";
import type { ParsedLine, ReadLine } from "../../engines/log-line.ts";
import { codeOf } from "../../lib/errors.ts";
import { isLeased } from "../../lib/leases.ts";
import { START_MARK } from "../os/engine-log.ts";
import { LogFile, SLICE_BYTES } from "./log-file.ts";

/** The interval at which a log without further lines is looked at again. */
const LOOK_MS = 200;

/** The position in a log that does not exist yet. */
const NOWHERE = "0.0.0";

/** Verifiers of passwords, which an engine may quote with the statement that sets them. */
const VERIFIERS = /SCRAM-SHA-256\$\S+|\*[0-9A-F]{40}\b/g;

/** A position within a file. */
interface Position {
  offset: number;
  /** The time of the line before; 0 when it is unknown. */
  atMs: number;
}

/** @param readLine reads a line of this engine's log. */
export async function readLog(
  path: string,
  readLine: ReadLine,
  query: LogQuery,
  signal: AbortSignal,
): Promise<LogSlice> {
  const deadline = performance.now() + (query.waitMs ?? 0);
  for (let next = query.cursor; ;) {
    const sizeBefore = await sizeOf(path);
    const slice: LogSlice = await sliceOf(
      path,
      readLine,
      next === undefined ? query : { ...query, cursor: next },
    );
    if (slice.lines.length > 0 || !slice.isEnd || slice.hasGap) return slice;
    while ((await sizeOf(path)) === sizeBefore) {
      if (signal.aborted || performance.now() >= deadline) return slice;
      await Bun.sleep(LOOK_MS);
    }
    // What was examined already need not be read again.
    next = slice.next;
  }
}

async function sliceOf(path: string, readLine: ReadLine, query: LogQuery): Promise<LogSlice> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return NOWHERE;
    if (isLeased(error)) return query.cursor ?? NOWHERE;
    throw error;
  });
  if (typeof file === "string") return { lines: [], next: file, isEnd: true, hasGap: false };
  try {
    const log = await LogFile.of(file);
    const line = (text: string) => markedLine(text) ?? readLine(text);
    const { hasGap, ...position } = await startOf(log, line, query);
    return { ...(await linesFrom(log, line, query, position)), hasGap };
  } finally {
    await file.close();
  }
}

async function startOf(
  log: LogFile,
  readLine: ReadLine,
  { cursor, tail, fromMs }: LogQuery,
): Promise<Position & { hasGap: boolean }> {
  if (cursor !== undefined) {
    const [identity, offset = 0, atMs = 0] = cursor
      .split(".")
      .map((part, index) => (index === 0 ? part : Number(part)));
    const position = { offset: Number(offset), atMs: Number(atMs) };
    const isKnown = identity === log.identity && position.offset <= log.size;
    if (isKnown && position.offset >= log.keptFrom) return { ...position, hasGap: false };
    return { offset: await log.begin(), atMs: 0, hasGap: cursor !== NOWHERE };
  }
  const offset =
    tail !== undefined
      ? await log.tail(tail)
      : fromMs !== undefined
        ? await log.before(fromMs, (text) => readLine(text).atMs)
        : await log.begin();
  return { offset, atMs: 0, hasGap: false };
}

/** The lines of one slice that the query selects. */
async function linesFrom(
  log: LogFile,
  readLine: ReadLine,
  query: LogQuery,
  start: Position,
): Promise<Omit<LogSlice, "hasGap">> {
  const bytes = await log.read(start.offset);
  const lines: LogLine[] = [];
  let { offset, atMs } = start;
  const cursorAt = (position: number) => `${log.identity}.${position}.${atMs}`;
  for (const { text, length } of wholeLines(bytes)) {
    const parsed = readLine(text);
    const lineMs = parsed.atMs ?? atMs;
    if (query.toMs !== undefined && lineMs >= query.toMs)
      return { lines, next: cursorAt(offset), isEnd: true };
    atMs = lineMs;
    offset += length;
    if (isSelected(parsed, atMs, query)) lines.push(lineOf(parsed, atMs, cursorAt(offset)));
    if (lines.length === query.limit) return { lines, next: cursorAt(offset), isEnd: false };
  }
  return { lines, next: cursorAt(offset), isEnd: start.offset + bytes.length >= log.size };
}

/** The complete lines with their lengths in bytes; a line that fills the slice counts as complete. */
function* wholeLines(bytes: Buffer): Generator<{ text: string; length: number }> {
  for (let at = 0; at < bytes.length;) {
    const newline = bytes.indexOf(0x0a, at);
    if (newline < 0 && (at > 0 || bytes.length < SLICE_BYTES)) return;
    const end = newline < 0 ? bytes.length : newline;
    const length = (newline < 0 ? end : end + 1) - at;
    yield { text: bytes.toString("utf8", at, end), length };
    at += length;
  }
}

function isSelected({ message }: ParsedLine, atMs: number, { fromMs, text }: LogQuery): boolean {
  if (message === null) return false;
  if (fromMs !== undefined && atMs < fromMs) return false;
  return text === undefined || message.toLowerCase().includes(text.toLowerCase());
}

function lineOf(parsed: ParsedLine, atMs: number, cursor: string): LogLine {
  const { isNote = false, level } = parsed;
  return {
    cursor,
    at: atMs === 0 ? null : new Date(atMs).toISOString(),
    level,
    isNote,
    message: (parsed.message ?? "").slice(0, MAX_MESSAGE_CHARACTERS).replaceAll(VERIFIERS, "…"),
  };
}

/** A line of the host's own: the identity of the file, which nobody needs to see, or the mark of a start. */
function markedLine(text: string): ParsedLine | null {
  if (!text.startsWith(START_MARK)) return null;
  const [, time = "", note] = /^# pilvi (\d{4}-\S+Z) (.*)$/.exec(text) ?? [];
  const atMs = Date.parse(time);
  return { atMs: Number.isNaN(atMs) ? null : atMs, level: "info", isNote: true, message: note ?? null };
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

// Makes entries of what an application writes: lines of JSON, plain lines, and traces of exceptions joined.
import { MAX_MESSAGE_CHARACTERS } from "../../../contracts/logs.ts";
import type { LogLevel } from "../../../contracts/logs.ts";
import { readLogLine } from "../../../engines/application/log-line.ts";
import { START_MARK } from "../../os/engine-log.ts";
import type { NewEntry } from "./entry.ts";
import { entryLength, isWhole, monologEntry, startsEntry } from "./monolog-entries.ts";

/** A line of the output, with the offset after it. */
export interface OutputLine {
  text: string;
  end: number;
}

/** An entry with the offset after its last line. */
type DraftEntry = NewEntry & { o: number };

/** A longer trace goes on as further entries. */
const MAX_TRACE_LINES = 200;

/**
 * How much of a line is looked at for exceptions and their places. The time that a pattern takes may grow with the
 * square of the line, and customers choose the lines.
 */
const EXAMINED_CHARACTERS = 500;

const PYTHON = "Traceback (most recent call last):";
/** Lines that follow the first line of an exception. */
const TRACE = /^(?:\s+at |\s+\.\.\. \d+ |Caused by: |Stack trace:|#\d+ |\s+thrown in )/;
/** The beginning of an exception, whose trace may not be there yet; the message follows. */
const FIRST =
  /^(?:Uncaught |PHP Fatal error:\s+Uncaught )?([A-Za-z_$][\w.$\\]*(?:Error|Exception)\w*)\b:?\s*/;
const MARKED = new RegExp(`^${START_MARK}(?:log [0-9a-f]{12}|\\d{4}-\\S+Z .*)$`);

/** Entries of lines. */
interface Entries {
  entries: DraftEntry[];
  /** The offset after the lines that were taken; null when none was. */
  end: number | null;
  /** Whether lines were left because the time was over. */
  isCut: boolean;
}

/**
 * The entries of whole lines.
 * @param isSettled whether nothing follows for now; else an exception at the end waits for the rest of its trace.
 * @param isInTime asked after each entry; the first is always made.
 */
export function entriesOf(
  lines: readonly OutputLine[],
  isSettled: boolean,
  isInTime: () => boolean = () => true,
): Entries {
  const entries: DraftEntry[] = [];
  let readTo: number | null = null;
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (line === undefined) break;
    if (at > 0 && !isInTime()) return { entries, end: readTo, isCut: true };
    const count = blockLength(lines, at, isSettled);
    const isOpen = at + count === lines.length && count < MAX_TRACE_LINES && mayGoOn(lines, at, count);
    if (isOpen && !isSettled) break;
    const block = lines.slice(at, at + count);
    const end = block.at(-1)?.end ?? line.end;
    at += count;
    readTo = end;
    if (line.text.trim() === "" || MARKED.test(line.text)) continue;
    entries.push({ ...entryOfBlock(block.map(({ text }) => text)), o: end });
  }
  return { entries, end: readTo, isCut: false };
}

function mayGoOn(lines: readonly OutputLine[], at: number, count: number): boolean {
  const text = lines[at]?.text ?? "";
  if (startsEntry(text)) return !isWhole(lines.slice(at, at + count).map((line) => line.text));
  return count > 1 || text === PYTHON || firstOf(text) !== null;
}

/** How many lines from one on belong together. */
function blockLength(lines: readonly OutputLine[], at: number, isSettled: boolean): number {
  const text = (index: number) => lines[index]?.text;
  const limit = Math.min(lines.length, at + MAX_TRACE_LINES);
  if (startsEntry(text(at))) {
    const texts = lines.slice(at, limit).map((line) => line.text);
    return entryLength(texts, isSettled || limit < lines.length);
  }
  let end = at + 1;
  if (text(at) === PYTHON) {
    while (end < limit && /^\s/.test(text(end) ?? "")) end += 1;
    // The last line names the exception.
    return Math.min(limit, end + 1) - at;
  }
  if (isTrace(text(at)) || text(at)?.startsWith("{") === true) return 1;
  while (end < limit && isTrace(text(end))) end += 1;
  if (end === at + 1 || text(end - 1)?.endsWith("{") !== true) return end - at;
  // Node writes the members of an error after its trace.
  while (end < limit && /^\s/.test(text(end) ?? "")) end += 1;
  return (text(end) === "}" && end < limit ? end + 1 : end) - at;
}

/** The name and the message of an exception that begins with this line; null for any other line. */
function firstOf(text: string): { name: string; message: string } | null {
  const [start, name] = FIRST.exec(cutLine(text)) ?? [];
  return start === undefined || name === undefined ? null : { name, message: text.slice(start.length) };
}

function isTrace(text: string | undefined): boolean {
  return text !== undefined && TRACE.test(text);
}

function entryOfBlock(texts: readonly string[]): NewEntry {
  const [text = ""] = texts;
  if (startsEntry(text)) return monologEntry(texts);
  return texts.length > 1 ? exceptionOf(texts) : entryOf(text);
}

function exceptionOf(texts: readonly string[]): NewEntry {
  const isPython = texts[0] === PYTHON;
  const first = (isPython ? texts.at(-1) : texts[0]) ?? "";
  const { name, message } = firstOf(first) ?? { name: null, message: first };
  const trace = isPython ? texts.slice(1, -1) : texts.slice(1);
  return {
    l: "error",
    y: "exception",
    m: cut(message === "" ? first : message),
    x: {
      class: name,
      code: null,
      file: fileOf(isPython ? trace.toReversed() : trace),
      trace: trace.map(cutLine),
    },
  };
}

/** A path begins where a word does, so that none of the slashes in a line is the beginning of another attempt. */
const PLACE = /(?:^|[\s(])((?:file:\/\/)?\/[^\s():]+):(\d+)/;
const PYTHON_PLACE = /File "([^"]+)", line (\d+)/;

/** The place of the first line of a trace that names a file. */
function fileOf(trace: readonly string[]): string | null {
  for (const line of trace.map(cutLine)) {
    const place = PLACE.exec(line) ?? PYTHON_PLACE.exec(line);
    if (place !== null) return `${place[1]}:${place[2]}`;
  }
  return null;
}

function entryOf(text: string): NewEntry {
  const { atMs, level } = readLogLine(text);
  const json = objectIn(text);
  const said = [json?.["msg"], json?.["message"]].find((each) => typeof each === "string");
  if (json === null || typeof said !== "string")
    return { t: null, l: firstOf(text) !== null ? "error" : level, y: "application", m: cut(text) };
  return structured(json, said, atMs, level);
}

/** The members of a line of JSON that the entry says elsewhere. */
const SAID = new Set(["level", "level_name", "time", "timestamp", "datetime", "msg", "message"]);

function structured(
  json: Record<string, unknown>,
  said: string,
  atMs: number | null,
  level: LogLevel,
): NewEntry {
  const { channel, context, extra, err, error, ...others } = json;
  const fault = objectOf(err) ?? objectOf(error);
  const stack = fault?.["stack"];
  if (fault !== null && typeof stack === "string") {
    const trace = stack.split("\n").slice(1, MAX_TRACE_LINES);
    const [name, code] = [fault["type"] ?? fault["name"], fault["code"]];
    return {
      t: atMs,
      l: level,
      y: "exception",
      m: cut(typeof fault["message"] === "string" ? `${said}: ${fault["message"]}` : said),
      x: {
        class: typeof name === "string" ? name : (/^(\w+)/.exec(stack)?.[1] ?? null),
        code: typeof code === "string" || typeof code === "number" ? code : null,
        file: fileOf(trace),
        trace: trace.map(cutLine),
      },
    };
  }
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !SAID.has(name)));
  const given = { ...rest, ...(error !== undefined && { error }), ...(err !== undefined && { err }) };
  const all = { ...given, ...objectOf(context) };
  return {
    t: atMs,
    l: level,
    y: "application",
    m: cut(said),
    x: {
      channel: typeof channel === "string" ? channel : null,
      context: Object.keys(all).length === 0 ? null : all,
      extra: objectOf(extra),
    },
  };
}

function objectOf(value: unknown): Record<string, unknown> | null {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : null;
}

/** Members may hold each other so often. Deeper ones can be read but not written again, as writing is recursive. */
const MAX_DEPTH = 32;

/** So many members may be in a line. More of them, of some bytes each, would take the host's time from others. */
const MAX_MEMBERS = 5_000;

/** Whether a value has deeper members, or more of them, than the bounds. */
function isVast(value: unknown): boolean {
  let left = MAX_MEMBERS;
  let level = [value].filter(isHolder);
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: object[] = [];
    for (const holder of level) {
      const members: unknown[] = Array.isArray(holder) ? holder : Object.values(holder);
      left -= members.length;
      if (left < 0 || depth === MAX_DEPTH) return true;
      for (const member of members) if (isHolder(member)) next.push(member);
    }
    level = next;
  }
  return false;
}

function isHolder(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function objectIn(text: string): Record<string, unknown> | null {
  if (!text.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isVast(value) ? null : objectOf(value);
  } catch {
    return null;
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_MESSAGE_CHARACTERS);
}

function cutLine(text: string): string {
  return text.slice(0, EXAMINED_CHARACTERS);
}

// Entries of what Monolog writes as text, as Laravel and Symfony do: a line with a level, or an exception with its trace.
import { MAX_MESSAGE_CHARACTERS } from "../../../contracts/logs.ts";
import { levelNamed } from "../../../engines/application/log-line.ts";
import type { NewEntry } from "./entry.ts";

const START = /^\[\d{4}-\d\d-\d\d[T ][^\]]{8,24}\] ([\w-]{1,60})\.([A-Z]{4,9}): /;
/** The last line of an exception with a trace: the end of the JSON that it stands in. */
const TRACE_END = /^"\}/;
/** The end of an entry of a single line: its context and its further data, which may both be empty. */
const LINE_END = /[ \]}]$/;
const FAULT = '"exception":"[object] (';
const TRACE = "[stacktrace]";
/** How much of a long line is looked at. */
const EXAMINED_CHARACTERS = 500;

/** Whether a line is the first of an entry. */
export function startsEntry(text: string | undefined): boolean {
  return text !== undefined && START.test(text);
}

/** Whether lines that begin with the first of an entry have its last. */
export function isWhole(texts: readonly string[]): boolean {
  return texts.length > 1 ? TRACE_END.test(texts.at(-1) ?? "") : LINE_END.test(texts[0] ?? "");
}

/**
 * How many lines from a first one belong to its entry. Messages may have several lines, and so the end alone says it.
 * @param isSettled whether nothing follows for now; else an entry without an end takes all lines, to wait for it.
 */
export function entryLength(texts: readonly string[], isSettled: boolean): number {
  const [first = ""] = texts;
  if (LINE_END.test(first)) return 1;
  const next = texts.findIndex((text, index) => index > 0 && (TRACE_END.test(text) || startsEntry(text)));
  if (next < 0) return isSettled ? 1 : texts.length;
  return startsEntry(texts[next]) ? 1 : next + 1;
}

/** The entry of lines that begin with the first of one. */
export function monologEntry(texts: readonly string[]): NewEntry {
  const [first = ""] = texts;
  const [start = "", channel = "", level = ""] = START.exec(first) ?? [];
  const said = texts.join("\n").slice(start.length).trimEnd();
  const at = said.indexOf(FAULT);
  const context = at < 0 ? -1 : said.lastIndexOf(" {", at);
  const fault = context < 0 ? null : faultIn(said.slice(at + FAULT.length));
  if (fault === null) {
    const data = { channel, context: null, extra: null };
    return { l: levelNamed(level), y: "application", m: cut(said), x: data };
  }
  return { l: levelNamed(level), y: "exception", m: cut(said.slice(0, context)), x: fault };
}

/** @param text from the class of the exception on. */
function faultIn(text: string): Record<string, unknown> | null {
  const [, name, code] =
    /^((?:[\w@]|\\\\)+)\(code: (-?\w+)\): /.exec(text.slice(0, EXAMINED_CHARACTERS)) ?? [];
  if (name === undefined || code === undefined) return null;
  const lines = text.split("\n");
  const traceAt = lines.indexOf(TRACE);
  const said = lines.slice(0, traceAt < 0 ? lines.length : traceAt).join("\n");
  const place = / at (\/\S+:\d+)\)(?:"\}.*)?$/s.exec(said.slice(-EXAMINED_CHARACTERS))?.[1];
  const trace = traceAt < 0 ? [] : lines.slice(traceAt + 1).filter((line) => !TRACE_END.test(line));
  return {
    class: unescaped(name),
    code: /^-?\d{1,15}$/.test(code) ? Number(code) : code,
    file: place ?? null,
    trace: trace.map((line) => unescaped(line.slice(0, EXAMINED_CHARACTERS))),
  };
}

/** The text of a string of JSON, whose ends of lines Monolog has written as such already. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(["\\/])/g, "$1");
}

function cut(text: string): string {
  return text.slice(0, MAX_MESSAGE_CHARACTERS);
}

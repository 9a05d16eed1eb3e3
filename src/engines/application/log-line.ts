// Lines of an application's log: JSON objects of the loggers that applications use, or plain text.
import type { LogLevel } from "../../contracts/logs.ts";
import { plainLine, type ParsedLine } from "../log-line.ts";

const LEVELS = new Map<string, LogLevel>(
  Object.entries({
    trace: "debug",
    debug: "debug",
    info: "info",
    notice: "info",
    warn: "warning",
    warning: "warning",
    error: "error",
    fatal: "error",
    critical: "error",
    alert: "error",
    emergency: "error",
  } as const),
);

/** The levels of pino and bunyan are numbers from 10 to 60. */
const NUMBERED: LogLevel[] = ["debug", "debug", "info", "warning", "error", "error"];

/** The levels of Monolog are numbers from 100 to 600. */
const MONOLOG: LogLevel[] = ["debug", "debug", "info", "warning", "error", "error", "error"];

const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{3})?`;
const PYTHON_LEVEL = "(DEBUG|INFO|WARNING|ERROR|CRITICAL)";
const NAME = String.raw`[\w.]{1,100}`;
/** The beginnings of lines of Python's logging, each with a level: as it is by itself and as its programs set it. */
const PYTHON_LINE = new RegExp(
  `^(?:${[
    // `logging.basicConfig()`, and uvicorn, which aligns its messages.
    `${PYTHON_LEVEL}:(?:${NAME}:| )`,
    // Flask.
    String.raw`\[${TIME}\] ${PYTHON_LEVEL} in ${NAME}: `,
    // Gunicorn.
    String.raw`\[${TIME} [+-]\d{4}\] \[\d{1,10}\] \[${PYTHON_LEVEL}\] `,
    // Celery.
    String.raw`\[${TIME}: ${PYTHON_LEVEL}/`,
    // Formats that begin with the time, as the documentation of Python has them.
    `${TIME}(?: - ${NAME} -)? ${PYTHON_LEVEL}[ :]`,
  ].join("|")})`,
);

/** Reads a line of anything that a customer's program writes. */
export function readLogLine(text: string): ParsedLine {
  const line = objectIn(text);
  if (line === null) return { ...plainLine(text), level: levelIn(text) };
  const { level, time, timestamp, datetime, msg, message } = line;
  const said = [msg, message].find((each) => typeof each === "string");
  if (typeof said !== "string") return plainLine(text);
  return { atMs: timeOf(time ?? timestamp ?? datetime), level: levelOf(level), message: text };
}

/** The level that a line of text names at its beginning. */
function levelIn(text: string): LogLevel {
  const [, ...names] = PYTHON_LINE.exec(text) ?? [];
  return levelNamed(names.find((name) => name !== undefined) ?? "");
}

function levelOf(level: unknown): LogLevel {
  if (typeof level === "string") return levelNamed(level);
  if (typeof level !== "number") return "info";
  return (level < 100 ? NUMBERED[Math.floor(level / 10) - 1] : MONOLOG[Math.floor(level / 100)]) ?? "info";
}

/** The level of a logger's word for it. */
export function levelNamed(name: string): LogLevel {
  return LEVELS.get(name.toLowerCase()) ?? "info";
}

function timeOf(time: unknown): number | null {
  const atMs = typeof time === "number" ? time : typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isFinite(atMs) && atMs > 0 ? Math.floor(atMs) : null;
}

function objectIn(text: string): Record<string, unknown> | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text);
  } catch {
    // A line that was cut, or no JSON.
    return null;
  }
}

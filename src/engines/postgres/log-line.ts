// Lines of Postgres' log, with the prefix that its configuration sets.
import type { LogLevel } from "../../contracts/logs.ts";
import { plainLine, utcMs, type ParsedLine } from "../log-line.ts";

const LINE = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) UTC (\[\d+\] ([A-Z]+)\d?:.*)$/s;

const LEVELS: Record<string, LogLevel> = {
  DEBUG: "debug",
  WARNING: "warning",
  ERROR: "error",
  FATAL: "error",
  PANIC: "error",
};

export function readLogLine(text: string): ParsedLine {
  const [, time, message, severity = ""] = LINE.exec(text) ?? [];
  if (time === undefined || message === undefined) return plainLine(text);
  return { atMs: utcMs(time), level: LEVELS[severity] ?? "info", message };
}

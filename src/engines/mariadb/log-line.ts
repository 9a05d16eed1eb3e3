// Lines of MariaDB's error log, whose hours have no leading zero.
import type { LogLevel } from "../../contracts/logs.ts";
import { plainLine, utcMs, type ParsedLine } from "../log-line.ts";

const LINE = /^(\d{4}-\d\d-\d\d) +(\d{1,2})(:\d\d:\d\d) (\d+ \[(\w+)\].*)$/s;

const LEVELS: Record<string, LogLevel> = { Warning: "warning", ERROR: "error" };

export function readLogLine(text: string): ParsedLine {
  const [, date, hour, rest, message, severity = ""] = LINE.exec(text) ?? [];
  if (hour === undefined || message === undefined) return plainLine(text);
  const atMs = utcMs(`${date} ${hour.padStart(2, "0")}${rest}`);
  return { atMs, level: LEVELS[severity] ?? "info", message };
}

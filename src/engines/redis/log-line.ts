// Lines of the log of a Redis or Valkey: pid and role, time, a sign for the level, and the message.
import type { LogLevel } from "../../contracts/logs.ts";
import { plainLine, type ParsedLine } from "../log-line.ts";

const LINE = /^(\d+:[A-Z]) (\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}) ([.\-*#]) (.*)$/s;

const LEVELS: Record<string, LogLevel> = { ".": "debug", "-": "debug", "#": "warning" };

export function readLogLine(text: string): ParsedLine {
  const [, process, time, sign = "", rest] = LINE.exec(text) ?? [];
  if (time === undefined) return plainLine(text);
  const atMs = Date.parse(`${time} UTC`);
  return {
    atMs: Number.isNaN(atMs) ? null : atMs,
    level: LEVELS[sign] ?? "info",
    message: `${process} ${rest}`,
  };
}

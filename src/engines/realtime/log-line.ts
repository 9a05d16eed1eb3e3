// Lines of a realtime server's log: one JSON object each.
import * as z from "zod/mini";
import type { LogLevel } from "../../contracts/logs.ts";
import { plainLine, type ParsedLine } from "../log-line.ts";

const lineSchema = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() });

const LEVELS: Record<string, LogLevel> = { debug: "debug", warn: "warning", error: "error" };

export function readLogLine(text: string): ParsedLine {
  const line = lineIn(text);
  if (line === null) return plainLine(text);
  const { level, time, msg, process: _process, ...members } = line;
  const atMs = Date.parse(time);
  const values = Object.keys(members).length === 0 ? "" : ` ${JSON.stringify(members)}`;
  return {
    atMs: Number.isNaN(atMs) ? null : atMs,
    level: LEVELS[level] ?? "info",
    message: `${msg}${values}`,
  };
}

function lineIn(text: string): z.infer<typeof lineSchema> | null {
  if (!text.startsWith("{")) return null;
  try {
    return z.safeParse(lineSchema, JSON.parse(text)).data ?? null;
  } catch {
    // A line that was cut, or not written by the server itself.
    return null;
  }
}

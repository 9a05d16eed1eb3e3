// What the host reads in a line of an engine's log.
import type { LogLevel } from "../contracts/logs.ts";

/** A line of a log, read. */
export interface ParsedLine {
  /** Milliseconds since 1970; null for a line without a time, which belongs to the line before. */
  atMs: number | null;
  level: LogLevel;
  /** Whether the host wrote it; left out for a line of the engine. */
  isNote?: true;
  /** Null for a line that customers do not see. */
  message: string | null;
}

/** Reads a line; anything is a line, since customers choose parts of it. */
export type ReadLine = (text: string) => ParsedLine;

/** A line that is not in the form of the engine's log. */
export function plainLine(text: string): ParsedLine {
  return { atMs: null, level: "info", message: text };
}

/** The time of a text in UTC such as `2026-03-15 08:16:12.345`; null when it is no time. */
export function utcMs(text: string): number | null {
  const atMs = Date.parse(`${text.replace(/\s+/, "T")}Z`);
  return Number.isNaN(atMs) ? null : atMs;
}

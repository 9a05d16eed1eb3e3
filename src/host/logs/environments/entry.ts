// An entry of the log of an environment, as a line of a segment has it.
import type { EnvironmentLogType } from "../../../contracts/environment-logs.ts";
import type { LogLevel } from "../../../contracts/logs.ts";

/** The names are short, since every line of a segment has them. */
export interface StoredEntry {
  /** Milliseconds since 1970, within a segment never before those of the entry before it. */
  t: number;
  l: LogLevel;
  y: EnvironmentLogType;
  m: string;
  /** The instance, and its deployment. */
  i?: string;
  d?: string;
  /** How far the output of the instance was read with this entry. */
  o?: number;
  /** Data of its type. */
  x?: Record<string, unknown>;
}

/** An entry before the log has given it a time. */
export type NewEntry = Omit<StoredEntry, "t"> & { t?: number | null };

/** How far the output of each instance was read, as the first line of a segment has it. */
export interface Positions {
  positions: Record<string, number>;
}

const HEAD = '{"positions":';

/** Whether a line is the head of a segment. */
export function isHead(line: string): boolean {
  return line.startsWith(HEAD);
}

export function entryIn(line: string): StoredEntry | null {
  if (isHead(line)) return null;
  try {
    return JSON.parse(line) as StoredEntry;
  } catch {
    // A power cut may leave a hole in a file.
    return null;
  }
}

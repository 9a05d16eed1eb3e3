// Reads what a former host has left in the file of its journal.
import {
  journalHeadSchema,
  journalRecordSchema,
  type JournalRecord,
  type OpenRun,
} from "../../contracts/journal.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { readIfPresent } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";

/** The content of the file, in memory. */
interface Content {
  sequence: number;
  open: Map<string, OpenRun>;
  /** The instances whose latest sleep has ended, or that never slept, and whether the records say so. */
  awake: Map<string, boolean>;
  waiting: JournalRecord[];
}

/** Reads the file. A kill or a full disk leaves lines half written. Unreadable lines are logged and skipped. */
export function readContent(path: string, log: Log): Content {
  const content: Content = { sequence: 0, open: new Map(), awake: new Map(), waiting: [] };
  const lines = (readIfPresent(path) ?? "").split("\n").filter((line) => line !== "");
  for (const [index, line] of lines.entries()) {
    try {
      if (index === 0) readHead(content, line);
      else readRecord(content, line);
    } catch (error) {
      log.warn({ error, line: index + 1 }, "a line of the journal cannot be understood");
    }
  }
  return content;
}

function readHead(content: Content, line: string): void {
  const head = readJsonAs(journalHeadSchema, line, "The head of the journal");
  content.sequence = head.sequence;
  content.open = new Map(Object.entries(head.open));
  // An earlier release did not keep this. What has a process is awake.
  const running = Object.keys(head.open).map((id) => [id, true] as const);
  content.awake = new Map(head.awake === undefined ? running : Object.entries(head.awake));
}

function readRecord(content: Content, line: string): void {
  const record = readJsonAs(journalRecordSchema, line, "The record");
  const { open, waiting } = content;
  waiting.push(record);
  content.sequence = Math.max(content.sequence, record.sequence);
  const { pid } = record.details;
  if (pid !== undefined) open.set(record.id, { pid, at: record.at });
  if (record.type === "stopped" || record.type === "crashed") open.delete(record.id);
  followSleep(content.awake, record.id, record.type);
}

/** Follows a record in the instances whose latest sleep has ended; see `Content.awake`. */
export function followSleep(awake: Map<string, boolean>, id: string, type: JournalRecord["type"]): void {
  if (type === "asleep") awake.delete(id);
  if (type === "awake") awake.set(id, true);
  if ((type === "started" || type === "restarted") && !awake.has(id)) awake.set(id, false);
}

// Reads the binary log of a MariaDB for an oracle: its commits in the order of the log, each with its GTID, its second,
// and the numbers that it inserted. It shares no code with the program under test.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const MAGIC_BYTES = 4;
const HEADER_BYTES = 19;
const CHECKSUM_BYTES = 4;
const TABLE_ID_BYTES = 6;
/** After the table of a row event and its flags: the number of columns, and which of them it has. */
const ROWS_AT = TABLE_ID_BYTES + 2 + 2;
/** A row of a table with a single integer: what is null, and the number. */
const ROW_BYTES = 5;

const EVENT = { query: 2, format: 15, xid: 16, tableMap: 19, writeRows: 23, gtid: 162 } as const;

/** A transaction in the log. */
export interface LoggedCommit {
  /** The last part of its GTID. */
  sequence: number;
  /** In seconds since 1970. */
  at: number;
  /** What it inserted into the table of numbers. */
  numbers: number[];
  /** When the file was begun in which it is, in seconds since 1970. */
  fileAt: number;
}

interface Event {
  type: number;
  at: number;
  body: Buffer;
}

/** All commits of a log. @param table the table of numbers, which has a single column. */
export function readBinlog(folder: string, table: string): LoggedCommit[] {
  const files = readdirSync(folder).filter((name) => /^binlog\.\d+$/.test(name));
  return files.sort().flatMap((name) => commitsIn(readFileSync(join(folder, name)), table));
}

/** A transaction without its end, of a server that was killed, is no commit. */
function commitsIn(file: Buffer, table: string): LoggedCommit[] {
  const commits: LoggedCommit[] = [];
  let fileAt = 0;
  let begun: LoggedCommit | null = null;
  let tableId = "";
  for (const { type, at, body } of eventsIn(file)) {
    if (type === EVENT.format) fileAt = at;
    else if (type === EVENT.gtid)
      begun = { sequence: Number(body.readBigUInt64LE(0)), at, numbers: [], fileAt };
    else if (type === EVENT.tableMap && tableOf(body) === table) tableId = idOf(body);
    else if (type === EVENT.writeRows && idOf(body) === tableId) begun?.numbers.push(...numbersIn(body));
    else if ((type === EVENT.xid || type === EVENT.query) && begun !== null) {
      commits.push(begun);
      begun = null;
    }
  }
  return commits;
}

function* eventsIn(file: Buffer): Generator<Event> {
  for (let at = MAGIC_BYTES; at + HEADER_BYTES <= file.length;) {
    const end = at + file.readUInt32LE(at + 9);
    if (end > file.length) return;
    const body = file.subarray(at + HEADER_BYTES, end - CHECKSUM_BYTES);
    yield { type: file.readUInt8(at + 4), at: file.readUInt32LE(at), body };
    at = end;
  }
}

function idOf(body: Buffer): string {
  return body.toString("hex", 0, TABLE_ID_BYTES);
}

function tableOf(body: Buffer): string {
  const schemaAt = TABLE_ID_BYTES + 2;
  const nameAt = schemaAt + 1 + body.readUInt8(schemaAt) + 1;
  return body.toString("utf8", nameAt + 1, nameAt + 1 + body.readUInt8(nameAt));
}

function numbersIn(body: Buffer): number[] {
  const count = Math.floor((body.length - ROWS_AT) / ROW_BYTES);
  return Array.from({ length: count }, (_, row) => body.readInt32LE(ROWS_AT + row * ROW_BYTES + 1));
}

// A list of things as a table that fits into the terminal.
import type { Io } from "./io.ts";
import { table } from "./table.ts";

/** The columns that a narrow terminal goes without, the first of them first. Commands take a name in place of an id. */
const DISPENSABLE = [
  "ID",
  "REGION",
  "MADE BY",
  "SINCE",
  "CLIENT EVENTS",
  "ORIGINS",
  "WEBHOOKS",
  "SIZE",
  "TYPE",
];

/**
 * Writes a table of the things, and says which columns had no room. A file or a pipe gets all columns.
 * @param heads the names of the columns; `NAME` is that of the thing.
 */
export function writeList(io: Io, heads: string[], rows: string[][]): void {
  const left = withoutRoom(heads, rows, io.outColumns);
  const isShown = (_: string, column: number) => !left.includes(heads[column] ?? "");
  io.out(table([heads, ...rows].map((cells) => cells.filter(isShown))));
  if (left.length > 0) io.err(`No room here for ${left.join(", ")}; --json has all.\n`);
}

/** The heads of the columns to leave out. Ids stay where two things have one name. */
function withoutRoom(heads: string[], rows: string[][], width: number): string[] {
  const names = rows.map((cells) => cells[heads.indexOf("NAME")]);
  const areUnique = new Set(names).size === names.length;
  const left: string[] = [];
  for (const head of DISPENSABLE) {
    const shown = heads.flatMap((each, column) => (left.includes(each) ? [] : [column]));
    if (widthOf([heads, ...rows], shown) <= width) break;
    if (heads.includes(head) && (head !== "ID" || areUnique)) left.push(head);
  }
  return left;
}

function widthOf(rows: string[][], shown: number[]): number {
  const lines = table(rows.map((cells) => shown.map((column) => cells[column] ?? ""))).split("\n");
  return Math.max(...lines.map((line) => line.length));
}

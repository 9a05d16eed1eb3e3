// The result of a query as a table for other programs (RFC 4180).
import type { QueryDocument } from "../resources/databases/schema.ts";

/** Lines with the names of the columns first. NULL is an empty cell; an empty text is a cell with quotes. */
export function queryCsv({ columns, rows }: Pick<QueryDocument["data"], "columns" | "rows">): string {
  const lines = [columns.map(({ name }) => cell(name)), ...rows.map((row) => row.map(cell))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

function cell(value: string | null): string {
  if (value === null) return "";
  return value === "" || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

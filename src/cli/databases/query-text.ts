// The result of a statement as text for people.
import type { QueryDocument } from "../../sdk/index.ts";
import { table } from "../table.ts";

type QueryResult = QueryDocument["data"];

/** The rows as a table, or below each other where the table is wider than the terminal. */
export function resultText({ columns, rows }: QueryResult, width: number): string {
  if (columns.length === 0) return "";
  const cells = rows.map((row) => row.map(cellText));
  const text = table([columns.map(({ name }) => name), ...cells]);
  const isWide = text.split("\n").some((line) => line.length > width);
  return isWide ? cells.map((row, index) => recordText(columns, row, index, width)).join("\n") : text;
}

function recordText(columns: QueryResult["columns"], row: string[], index: number, width: number): string {
  const lines = table(columns.map(({ name }, column) => [name, row[column] ?? ""])).split("\n");
  const cut = lines.map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line));
  return `Row ${index + 1}\n${cut.join("\n")}`;
}

/** A cell in one line. */
function cellText(value: string | null): string {
  return value === null
    ? "NULL"
    : value.replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
}

/** What there is to say after the rows. */
export function endText(result: QueryResult): string {
  const { rows, command, row_count: count, duration_ms: ms, truncated, cut_cells: cut, notices } = result;
  const lines = notices.map(({ severity, message }) => `${severity}: ${message}`);
  if (cut.length > 0)
    lines.push(cut.length === 1 ? "One long value is cut." : `${cut.length} long values are cut.`);
  const shown = truncated ? `the first ${rowsText(rows.length)}` : rowsText(count ?? rows.length);
  lines.push([command ?? "Done", shown, `${ms} ms`].join(", "));
  return lines.map((line) => `${line}\n`).join("");
}

function rowsText(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}

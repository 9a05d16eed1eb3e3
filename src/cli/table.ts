// Text in columns.

/**
 * Lines with cells below each other, two spaces apart; every row has as many cells as the first one. A row stays one
 * line, whatever is in its cells: the rest of a value would look like another row.
 */
export function table(cells: string[][]): string {
  const rows = cells.map((row) => row.map(inOneLine));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

const ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function inOneLine(cell: string): string {
  return cell.replaceAll(/[\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}

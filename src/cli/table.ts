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

/**
 * Words one after the other in lines of at most so many characters. A word that is longer has a line of its own.
 * @param between stands between the words of a line.
 */
export function filledLines(words: readonly string[], most: number, between: string): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ""}${between}${word}`;
    if (lines.length === 0 || longer.length > most) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Rows of a table for a value of several lines, of which the first has the name. */
export function rowsOf(name: string, lines: readonly string[]): string[][] {
  return lines.map((line, index) => [index === 0 ? name : "", line]);
}

const ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function inOneLine(cell: string): string {
  return cell.replaceAll(/[\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}

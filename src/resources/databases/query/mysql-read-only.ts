// The statements that a MariaDB runs read-only. The transaction refuses to write, but a block of statements could end
// the transaction and then write, so a statement must begin like a statement that reads.

const READING = new Set([
  "select",
  "with",
  "values",
  "show",
  "describe",
  "desc",
  "explain",
  "analyze",
  "check",
  "checksum",
  "help",
]);

/** Spaces, comments and opening parentheses; a comment that MariaDB executes begins with `/*!` or `/*M!`. */
const BEFORE = /^(?:\s+|#[^\n]*(?:\n|$)|--(?:[\s][^\n]*)?(?:\n|$)|\/\*(?!M?!)[\s\S]*?\*\/|\()*/;

/** The word with which a statement begins, in lowercase; empty when it begins with anything else. */
function firstWord(statement: string): string {
  const rest = statement.replace(BEFORE, "");
  return /^[a-z]+/i.exec(rest)?.[0].toLowerCase() ?? "";
}

/** Whether the statement may run read-only, as far as its beginning says; the transaction says the rest. */
export function isReading(statement: string): boolean {
  return READING.has(firstWord(statement));
}

// Quotes a text for a POSIX shell.

/** The text as a single word, whatever characters it has. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

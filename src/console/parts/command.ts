// Commands of the CLI as text.

/** @param options by their names; true is an option without a value, and undefined or false is none. */
export function commandText(words: readonly unknown[], options: Record<string, unknown>): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  const texts = given.map(([name, value]) =>
    value === true ? `--${name}` : `--${name} ${quoted(String(value))}`,
  );
  return [`npx pilvi ${words.map((word) => quoted(String(word))).join(" ")}`, ...texts].join(" \\\n  ");
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

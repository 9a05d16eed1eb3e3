// Commands of the CLI as text.

/**
 * @param options the value of each option by its name. True adds the option without a value; undefined or false leaves
 *   the option out.
 */
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

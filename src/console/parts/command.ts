// Requests for a terminal: as commands of the CLI, and as curl.

/**
 * A command of the installed program: `npx` would fetch a package of its name from npm's registry, where Pilvi has none,
 * in every folder but that of Pilvi.
 * @param options the value of each option by its name. True adds the option without a value, a list adds it for each of
 *   its values; undefined or false leaves it out.
 * @param rest words that have to follow the options.
 */
export function commandText(
  words: readonly unknown[],
  options: Record<string, unknown>,
  rest: readonly unknown[] = [],
): string {
  const texts = words.map(String);
  // A word with a hyphen first would be read as an option.
  const firstDashed = texts.findIndex((word) => word.startsWith("-"));
  const [plain, dashed] =
    firstDashed === -1 ? [texts, []] : [texts.slice(0, firstDashed), texts.slice(firstDashed)];
  const last = [...dashed, ...rest.map(String)];
  return [
    `pilvi ${plain.map(quoted).join(" ")}`,
    ...Object.entries(options).flatMap(([name, value]) => optionTexts(name, value)),
    ...(last.length === 0 ? [] : [`-- ${last.map(quoted).join(" ")}`]),
  ].join(" \\\n  ");
}

function optionTexts(name: string, value: unknown): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [`--${name}`];
  if (Array.isArray(value)) return value.flatMap((each) => optionTexts(name, each));
  const text = String(value);
  return [`--${name}${text.startsWith("-") ? "=" : " "}${quoted(text)}`];
}

/** The request that posts the body to a path below the API root. */
export function curlText(path: string, body: Record<string, unknown>): string {
  return [
    `curl ${location.origin}/api${path} \\`,
    `  -H "Authorization: Bearer $PILVI_TOKEN" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`,
  ].join("\n");
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

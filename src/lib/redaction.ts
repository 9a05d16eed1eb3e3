// Keeps the values of secrets out of texts of programs that know them.

/** What stands in the place of a secret. */
const REDACTED = "[secret]";

/** A shorter value is too common in other words to be cut out. */
const MIN_SECRET_LENGTH = 4;

/** A function that cuts the values out of a text; the lines of a value are secret by themselves. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const lines = secrets.flatMap((value) => [value, ...value.split("\n")]).map((value) => value.trim());
  const values = new Set(lines.filter((value) => value.length >= MIN_SECRET_LENGTH));
  // A value that contains another comes first.
  const longestFirst = [...values].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}

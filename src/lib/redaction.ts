// Keeps the values of secrets out of texts of programs that know them.
import { WordFinder, type Span } from "./word-finder.ts";

/** What stands in the place of a secret. */
const REDACTED = "[secret]";

/** A shorter value is too common in other words to be cut out. */
const MIN_SECRET_LENGTH = 4;

/** Logs cut long lines, so a longer value is looked for in pieces of this length as well. */
const PIECE_LENGTH = 64;

/**
 * A function that cuts the values out of a text; the lines of a value are secret by themselves. Its time depends on the
 * text alone, since customers choose how many values there are.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const lines = secrets.flatMap((value) => [value, ...value.split("\n")]).map((value) => value.trim());
  const values = lines.concat(lines.flatMap(piecesOf));
  const finder = new WordFinder(values.filter((value) => value.length >= MIN_SECRET_LENGTH));
  return (text) => withoutSpans(text, finder.spansIn(text));
}

function piecesOf(value: string): string[] {
  if (value.length <= PIECE_LENGTH) return [];
  return value.match(new RegExp(`[^\\n]{${PIECE_LENGTH}}`, "g")) ?? [];
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let shown = "";
  let at = 0;
  for (const { start, end } of spans) {
    shown += text.slice(at, start) + REDACTED;
    at = end;
  }
  return shown + text.slice(at);
}

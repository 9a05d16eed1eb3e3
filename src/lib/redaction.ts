// Keeps the values of secrets out of texts of programs that know them.
import { WordFinder, type Span } from "./word-finder.ts";

/** What stands in the place of a secret. */
const REDACTED = "[secret]";

/** A shorter value is too common in other words to be cut out. */
const MIN_SECRET_LENGTH = 4;

/** Logs cut long lines, so a longer value is looked for in pieces of this length as well. */
const PIECE_LENGTH = 64;

/** So many characters of a text that comes in parts are looked at together. */
const LOOK_LENGTH = 4_096;

/**
 * A function that cuts the values out of a text; the lines of a value are secret by themselves. It prepares itself for the
 * first text, which takes long for many values; from then on, its time depends on the text alone.
 */
export function redactor(secrets: readonly string[]): (text: string) => Promise<string> {
  let finder: Promise<WordFinder> | undefined;
  return async (text) => {
    finder ??= finderOf(secrets);
    return withoutSpans(text, (await finder).spansIn(text));
  };
}

/** As `redactor`, for lines that come in parts: a value of several lines is in none of them, and need not be waited for. */
export async function partsRedactor(secrets: readonly string[]): Promise<() => PartsRedactor> {
  const finder = await finderOf(secrets.flatMap((value) => value.split("\n")));
  return () => new PartsRedactor(finder);
}

/** Cuts the values out of a text that comes in parts, also where a part ends in the middle of a value. */
export class PartsRedactor {
  readonly #finder: WordFinder;
  /** The end of the text so far, in which a value may have begun. */
  #held = "";
  /** How many characters at the beginning of `#held` belong to a value that is cut out already. */
  #covered = 0;

  constructor(finder: WordFinder) {
    this.#finder = finder;
  }

  /** @returns a further part of the text without the values; empty while a value may have begun in it. */
  add(part: string): string {
    this.#held += part;
    const most = Math.max(0, this.#finder.longestWord - 1);
    // Few long looks at the text instead of many: a program may write each character by itself.
    return this.#held.length < 2 * most + LOOK_LENGTH ? "" : this.#until(this.#held.length - most);
  }

  /** @returns the rest of the text without the values; a part that follows begins another text. */
  end(): string {
    const rest = this.#until(this.#held.length);
    this.#covered = 0;
    return rest;
  }

  /** Takes the text until a position behind which nothing is known to be the beginning of a value. */
  #until(end: number): string {
    let shown = "";
    let at = this.#covered;
    for (const span of this.#finder.spansIn(this.#held)) {
      if (span.start >= end) break;
      if (span.start >= at) shown += this.#held.slice(at, span.start) + REDACTED;
      at = Math.max(at, span.end);
    }
    shown += this.#held.slice(at, Math.max(at, end));
    this.#held = this.#held.slice(end);
    this.#covered = Math.max(0, at - end);
    return shown;
  }
}

async function finderOf(secrets: readonly string[]): Promise<WordFinder> {
  const lines = secrets.flatMap((value) => [value, ...value.split("\n")]).map((value) => value.trim());
  const values = lines.concat(lines.flatMap(piecesOf));
  return await WordFinder.of(values.filter((value) => value.length >= MIN_SECRET_LENGTH));
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

// Makes texts that customers choose fit to be shown: short, with printable characters only.

/** Far longer than usual names. */
const MAX_NAME_CHARACTERS = 128;

/** Longer than any sentence of Pilvi's own. */
const MAX_SENTENCE_CHARACTERS = 512;

/** Characters that a terminal obeys or that nobody can see. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name for a sentence or a log, cut to `maxCharacters`. */
export function presentable(text: string, maxCharacters = MAX_NAME_CHARACTERS): string {
  return text.slice(0, maxCharacters).toWellFormed().replace(UNPRINTABLE, "?");
}

/**
 * A whole sentence that quotes a foreign text, such as an engine's message; ends of lines stay. What is cut to
 * `maxCharacters` has an ellipsis besides.
 */
export function presentableSentence(text: string, maxCharacters = MAX_SENTENCE_CHARACTERS): string {
  const lines = text.slice(0, maxCharacters).split("\n");
  const shown = lines.map((line) => presentable(line, maxCharacters)).join("\n");
  return text.length > maxCharacters ? `${shown}…` : shown;
}

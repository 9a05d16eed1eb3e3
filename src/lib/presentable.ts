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
  const lines = shortenedSentence(text, maxCharacters).split("\n");
  return lines.map((line) => presentable(line, maxCharacters + 1)).join("\n");
}

/**
 * Cuts a sentence to `maxCharacters`, and an ellipsis besides. Of the output that follows a sentence, the newest lines
 * stay, since programs end with the reason. Of a single line, its beginning stays.
 */
export function shortenedSentence(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const beginning = text.slice(0, maxCharacters);
  const sentence = beginning.split("\n", 1).join("");
  const room = maxCharacters - sentence.length - "\n\n".length;
  if (room <= 0) return `${beginning}…`;
  const end = text.slice(-room - 1);
  const lineEnd = end.indexOf("\n");
  if (lineEnd >= 0) return `${sentence}\n…\n${end.slice(lineEnd + 1)}`;
  const line = text.slice(text.lastIndexOf("\n") + 1);
  return `${sentence}\n${line.slice(0, room + 1)}…`;
}

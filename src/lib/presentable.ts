// Texts that customers choose, made fit to be shown: short, and nothing in them but what can be printed.

/** Far longer than what people call things. */
const MAX_NAME_CHARACTERS = 128;

/** Longer than any sentence of ours. */
const MAX_SENTENCE_CHARACTERS = 512;

/** What a terminal obeys, or nobody can see. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name as it may stand in a sentence or a log, cut to `maxCharacters`. */
export function presentable(text: string, maxCharacters = MAX_NAME_CHARACTERS): string {
  return text.slice(0, maxCharacters).toWellFormed().replace(UNPRINTABLE, "?");
}

/** A whole sentence that quotes what somebody else chose or wrote, such as an engine. */
export function presentableSentence(text: string): string {
  const shown = presentable(text, MAX_SENTENCE_CHARACTERS);
  return text.length > MAX_SENTENCE_CHARACTERS ? `${shown}…` : shown;
}

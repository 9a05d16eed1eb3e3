// Makes texts of customers' statements fit for an answer: bounded, and without the passwords of users.
import { MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS } from "../contracts/queries.ts";

/** The words after which a statement may have a password. */
const SECRET = /passw(?:or)?d|identified|secret/i;

/** The beginning of a text within a statement. */
const QUOTES = { postgres: /'|\$(?!\d)/, mysql: /['"]/ };

/** A text as the contract has it. */
interface StatementText {
  text: string | null;
  isCut: boolean;
}

/**
 * The text of a statement, cut to `MAX_TEXT_CHARACTERS`. When it names a password and quotes something after that,
 * everything from there on is left out: readers of statements need not see passwords.
 * @param isCut whether the engine has left out the end of the text already.
 */
export function statementText(
  text: string | null,
  isCut: boolean,
  protocol: keyof typeof QUOTES,
): StatementText {
  if (text === null) return { text, isCut: false };
  const shown = withoutSecret(text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed(), QUOTES[protocol]);
  return { text: shown, isCut: isCut || shown.length < text.length };
}

/** A name that an engine gave, cut to what the contract takes; null for an empty name. */
export function boundedName(name: string | null): string | null {
  return name ? name.slice(0, MAX_NAME_CHARACTERS).toWellFormed() : null;
}

function withoutSecret(text: string, quote: RegExp): string {
  const found = SECRET.exec(text);
  if (found === null) return text;
  const end = found.index + found[0].length;
  return quote.test(text.slice(end)) ? text.slice(0, end) : text;
}

// Inline commands, as people type them in telnet: words in one line, with quotes.

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const [TAB, CARRIAGE_RETURN] = [0x09, 0x0d];
const [DOUBLE_QUOTE, SINGLE_QUOTE] = [0x22, 0x27];
/** A search by the runtime costs as much as so many bytes one by one, and most lines are shorter. */
const SHORT_BYTES = 64;

const ESCAPED: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\u0007" };
/** White space as in the engine, which takes bytes beyond ASCII for letters. */
const WHITE_SPACE = /[\t-\r ]/;
const WORDS = /[^\t-\r ]+/g;

/**
 * Splits a line as the engine does: within double quotes `\n`, `\r`, `\t`, `\b`, `\a` and `\xHH` stand for one byte, within
 * single quotes `\'` does.
 * @param line one character a byte.
 * @returns null when a quote is not closed, or no white space follows a closed quote.
 */
export function splitInline(line: string): string[] | null {
  if (!/["']/.test(line)) return line.match(WORDS) ?? [];
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && WHITE_SPACE.test(line.charAt(at))) at++;
    if (at >= line.length) return words;
    const word = readWord(line, at);
    if (word === null) return null;
    words.push(word.text);
    at = word.end;
  }
}

/** Where the line at `start` ends; -1 when its end has not arrived. @param length of the bytes that have arrived. */
export function lineFeedAt(bytes: Uint8Array, start: number, length: number): number {
  const nearEnd = Math.min(length, start + SHORT_BYTES);
  for (let at = start; at < nearEnd; at++) if (bytes[at] === LINE_FEED) return at;
  const found = nearEnd < length ? bytes.subarray(nearEnd, length).indexOf(LINE_FEED) : -1;
  return found < 0 ? -1 : nearEnd + found;
}

/** The start of the first line that is not blank, or has not arrived. @param length as for `lineFeedAt`. */
export function skipBlankLines(bytes: Uint8Array, start: number, length: number): number {
  let lineAt = start;
  for (let at = start; at < length && isSpace(bytes[at]); at++) if (bytes[at] === LINE_FEED) lineAt = at + 1;
  return lineAt;
}

/** The first byte from `start` to `end` that is no white space; `end` for a blank line. */
export function skipSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

/** The end of the word that begins at `start`; -1 when a quote comes before the end of the line. */
export function plainWordEnd(bytes: Uint8Array, start: number, lineEnd: number): number {
  let end = -1;
  for (let at = start; at < lineEnd; at++) {
    const byte = bytes[at];
    if (byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE) return -1;
    if (end < 0 && isSpace(byte)) end = at;
  }
  return end < 0 ? lineEnd : end;
}

function isSpace(byte = 0): boolean {
  return byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN);
}

interface Part {
  text: string;
  end: number;
}

function readWord(line: string, start: number): Part | null {
  let text = "";
  let at = start;
  while (at < line.length && !WHITE_SPACE.test(line.charAt(at))) {
    const char = line.charAt(at);
    if (char !== '"' && char !== "'") {
      text += char;
      at++;
      continue;
    }
    const quoted = readQuoted(line, at + 1, char);
    if (quoted === null) return null;
    // The closing quote ends the word.
    if (quoted.end < line.length && !WHITE_SPACE.test(line.charAt(quoted.end))) return null;
    return { text: text + quoted.text, end: quoted.end };
  }
  return { text, end: at };
}

function readQuoted(line: string, start: number, quote: string): Part | null {
  let text = "";
  let at = start;
  while (at < line.length) {
    const char = line.charAt(at);
    if (char === quote) return { text, end: at + 1 };
    const next = char === "\\" ? readEscaped(line, at, quote) : { text: char, end: at + 1 };
    text += next.text;
    at = next.end;
  }
  return null;
}

function readEscaped(line: string, at: number, quote: string): Part {
  const next = line.charAt(at + 1);
  if (quote === "'") return next === "'" ? { text: next, end: at + 2 } : { text: "\\", end: at + 1 };
  const hex = /^x([0-9a-f]{2})/i.exec(line.slice(at + 1, at + 4))?.[1];
  if (hex !== undefined) return { text: String.fromCharCode(Number.parseInt(hex, 16)), end: at + 4 };
  return next === "" ? { text: "\\", end: at + 1 } : { text: ESCAPED[next] ?? next, end: at + 2 };
}

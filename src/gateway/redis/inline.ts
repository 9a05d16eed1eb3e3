// Inline commands, as people type them in telnet: words in one line, with quotes.

const ESCAPED: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\u0007" };
const WHITE_SPACE = /\s/;

/**
 * Splits a line as the engine does: within double quotes `\n`, `\r`, `\t`, `\b`, `\a` and `\xHH` stand for one byte, within
 * single quotes `\'` does.
 * @param line one character a byte.
 * @returns null when a quote is not closed, or no white space follows a closed quote.
 */
export function splitInline(line: string): string[] | null {
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

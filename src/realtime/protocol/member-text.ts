// The text of a member of a JSON object, as its writer wrote it. A value that was read and is written again may be
// another: a number cannot hold all digits, and has one form alone.

/** Readers of JSON that call themselves for each level fail at a deeper nesting. */
const MAX_DEPTH = 10_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
/** The bit by which brackets and braces differ. */
const BRACE = 32;
const OPENING = 123;
const CLOSING = 125;

/**
 * Finds the text of a member's value. Of several members with the name the last counts, as for any reader of JSON.
 * @param object JSON that was read already, and is an object.
 * @returns undefined without such a member, and null for a value that is nested too deeply.
 */
export function memberText(object: string, name: string): string | undefined | null {
  let found: string | undefined | null;
  let at = 0;
  for (;;) {
    const key = object.indexOf('"', at);
    if (key === -1) return found;
    const keyEnd = endOfString(object, key);
    const start = object.indexOf(":", keyEnd) + 1;
    const { end, depth } = valueFrom(object, start);
    if (isNamed(object.slice(key, keyEnd), name))
      found = depth > MAX_DEPTH ? null : object.slice(start, end).trim();
    at = end;
  }
}

/** Whether a key as JSON, which may have escapes, is a name. */
function isNamed(key: string, name: string): boolean {
  return key.includes("\\") ? JSON.parse(key) === name : key.length === name.length + 2 && key.includes(name);
}

/** The place behind a string. @param quote the place of its first quotation mark. */
function endOfString(text: string, quote: number): number {
  let end = quote;
  do end = text.indexOf('"', end + 1);
  while (isEscaped(text, end));
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** The place behind a member's value, and how deeply the value is nested. */
function valueFrom(text: string, start: number): { end: number; depth: number } {
  let at = start;
  let open = 0;
  let depth = 0;
  for (;;) {
    const code = text.charCodeAt(at);
    const bracket = code | BRACE;
    if (open === 0 && (code === COMMA || bracket === CLOSING)) return { end: at, depth };
    if (bracket === OPENING) depth = Math.max(depth, (open += 1));
    else if (bracket === CLOSING) open -= 1;
    at = code === QUOTE ? endOfString(text, at) : at + 1;
  }
}

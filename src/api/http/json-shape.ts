// Refuses JSON that would take long to check, by a look at its bytes: to parse it would take long already.
import { invalid } from "../jsonapi/errors.ts";

/** No operation knows more than a few levels of objects and arrays. */
const MAX_DEPTH = 64;

/** A request with the most variables has a fifth of them. While more are checked, the process answers nobody else. */
const MAX_VALUES = 10_000;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Refuses a text with too many levels or values. Of a text that is no JSON it may say anything.
 * @throws ApiError 422 for `body`.
 */
export function refuseUnwieldy(json: Uint8Array): void {
  let [depth, values] = [0, 1];
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === COMMA) values += 1;
    else if (OPENING.has(byte)) [depth, values] = [depth + 1, values + 1];
    else if (CLOSING.has(byte)) depth -= 1;
    if (depth > MAX_DEPTH) throw invalid({ body: [`The body must have ${MAX_DEPTH} levels at most.`] });
    if (values > MAX_VALUES) throw invalid({ body: [`The body must have ${MAX_VALUES} values at most.`] });
  }
}

/** The place of the quote that ends the string. @param start the place of the quote that begins it. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

// The query of a request's URL: its values, and the text that clients sign.
import { HttpError } from "./answer.ts";

/** The characters of an escape or of an upper-case key; most queries have neither and skip both steps. */
const NEEDS_CARE = /[%+A-Z]/;

/**
 * The query that all libraries send with an event, in the order of the signature: it needs no sorting and no
 * unescaping.
 */
const USUAL =
  /^(auth_key=([^&%+]*)&auth_timestamp=(\d+)&auth_version=([\d.]+)&body_md5=([\da-f]{32}))&auth_signature=([\da-f]{64})$/;
const USUAL_KEYS = ["auth_key", "auth_timestamp", "auth_version", "body_md5", "auth_signature"];

/** A query's parameters in the order of the signature. */
export class Query {
  readonly #keys: readonly string[];
  readonly #values: readonly string[];
  readonly #signedText: string | undefined;

  /** @param signedText when it is known already. */
  constructor(keys: readonly string[], values: readonly string[], signedText?: string) {
    this.#keys = keys;
    this.#values = values;
    this.#signedText = signedText;
  }

  /** The value of a lower-case key; of a repeated key, the last value counts. */
  get(key: string): string | undefined {
    return this.#values[this.#keys.lastIndexOf(key)];
  }

  /** `key=value` pairs, unescaped, without the signature itself. */
  signedText(): string {
    if (this.#signedText !== undefined) return this.#signedText;
    let text = "";
    for (let index = 0; index < this.#keys.length; index++) {
      const key = this.#keys[index];
      if (key === "auth_signature") continue;
      text += `${text === "" ? "" : "&"}${key}=${this.#values[index]}`;
    }
    return text;
  }
}

/**
 * Reads a query without its question mark.
 * @throws HttpError when a percent sign is not followed by two hexadecimal digits, or the digits do not make a text.
 */
export function parseQuery(text: string): Query {
  const usual = USUAL.exec(text);
  if (usual !== null) return new Query(USUAL_KEYS, usual.slice(2), usual[1]);
  const keys: string[] = [];
  const values: string[] = [];
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf("&", start);
    if (end === -1) end = text.length;
    if (end === start) continue;
    const equals = text.indexOf("=", start);
    const keyEnd = equals === -1 || equals > end ? end : equals;
    keys.push(text.slice(start, keyEnd));
    values.push(text.slice(keyEnd + 1, end));
  }
  if (!NEEDS_CARE.test(text)) return inOrder(keys, values);
  return inOrder(
    keys.map((key) => unescaped(key).toLowerCase()),
    values.map((value) => unescaped(value)),
  );
}

/**
 * Resolves the escapes in a part of a path.
 * @throws HttpError when an escape is malformed.
 */
export function unescapedPath(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(400, "The URL contains a malformed percent-encoding");
  }
}

/** A plus sign in a query stands for a space. */
function unescaped(text: string): string {
  return unescapedPath(text.includes("+") ? text.replaceAll("+", " ") : text);
}

function inOrder(keys: readonly string[], values: readonly string[]): Query {
  if (isSorted(keys)) return new Query(keys, values);
  const pairs = keys.map((key, index): [key: string, value: string] => [key, values[index] ?? ""]);
  pairs.sort(([left], [right]) => Number(left > right) - Number(left < right));
  return new Query(
    pairs.map(([key]) => key),
    pairs.map(([, value]) => value),
  );
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] ?? "") > (keys[index] ?? "")) return false;
  }
  return true;
}

// Finds the place at which a text stops being JSON, which the parser of the runtime does not say.

/** A place in a text; both numbers begin with 1. */
export interface Place {
  line: number;
  column: number;
}

/** What may come next: a value, the name of a member, the colon after it, or what follows a value. */
type Expected = "value" | "value or end" | "name" | "name or end" | "colon" | "after";

const SPACE = /[ \t\r\n]*/y;
const SPACE_AND_COMMENTS = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids control characters in strings
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;

/** The first place that is no JSON; undefined when there is none. */
export function jsonFaultAt(text: string, withComments = false): Place | undefined {
  const scanner = new Scanner(text, withComments);
  const at = scanner.faultAt();
  if (at === undefined) return undefined;
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}

class Scanner {
  readonly #text: string;
  readonly #withComments: boolean;
  /** The end of each open object and array; a list, since a nested text must not nest calls. */
  readonly #open: ("}" | "]")[] = [];
  #at = 0;
  #expected: Expected = "value";

  constructor(text: string, withComments: boolean) {
    this.#text = text;
    this.#withComments = withComments;
  }

  faultAt(): number | undefined {
    for (;;) {
      this.#skip(this.#withComments ? SPACE_AND_COMMENTS : SPACE);
      if (this.#at >= this.#text.length) {
        return this.#expected === "after" && this.#open.length === 0 ? undefined : this.#at;
      }
      if (!this.#step()) return this.#at;
    }
  }

  /** Goes over one token; false when it may not stand here. */
  #step(): boolean {
    if (this.#expected === "after") return this.#afterValue();
    if (this.#expected === "colon") return this.#take(":", "value");
    if (this.#expected.endsWith("or end") && this.#close()) return true;
    if (this.#expected.startsWith("name")) return this.#match(STRING, "colon");
    if (this.#take("{", "name or end")) return this.#opened("}");
    if (this.#take("[", "value or end")) return this.#opened("]");
    return this.#match(STRING, "after") || this.#match(SCALAR, "after");
  }

  #afterValue(): boolean {
    const end = this.#open.at(-1);
    if (end === undefined) return false;
    const next = end === "}" ? "name" : "value";
    return this.#close() || this.#take(",", this.#withComments ? `${next} or end` : next);
  }

  #opened(end: "}" | "]"): true {
    this.#open.push(end);
    return true;
  }

  #close(): boolean {
    const end = this.#open.at(-1);
    if (end === undefined || !this.#take(end, "after")) return false;
    this.#open.pop();
    return true;
  }

  #take(character: string, next: Expected): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    this.#expected = next;
    return true;
  }

  #match(pattern: RegExp, next: Expected): boolean {
    if (!this.#skip(pattern)) return false;
    this.#expected = next;
    return true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return false;
    this.#at += found[0].length;
    return true;
  }
}

// Follows the commands of a client to its engine, by the lengths at their beginnings.
import type { MessageFramer } from "../backend.ts";
import { lineFeedAt, plainWordEnd, skipBlankLines, skipSpaces, splitInline } from "./inline.ts";
import { loginOf } from "./login.ts";
import { MAX_PARSED_BYTES, MAX_PARSED_ELEMENTS } from "./resp.ts";
import type { Login } from "./session.ts";

const STAR = 0x2a;
const DOLLAR = 0x24;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const CARRIAGE_RETURN = 0x0d;

const MAX_LINE_BYTES = 64 * 1024;
/** Names that matter to the framer, besides those of `NO_USE` and `ITERATIONS`. */
const TRANSACTIONS = ["discard", "exec", "multi", "unwatch", "watch"];
/** Commands that libraries send to connect and to keep a connection alive. */
const NO_USE = new Set(["auth", "client", "echo", "hello", "ping", "quit", "reset", "select"]);
/** Commands that can log a client in. */
const LOGINS = new Set(["auth", "hello"]);
/** Commands whose cursors are worth nothing at the next engine, which has another order of keys. */
const ITERATIONS = new Set(["hscan", "scan", "sscan", "zscan"]);

const LONGEST_NAME = "unwatch".length;
/** Whether a name may matter by its first byte, and by its last, at the index of its length times 256 plus the byte. */
const MAY_BEGIN = new Uint8Array(256 * (LONGEST_NAME + 1));
const MAY_END = new Uint8Array(MAY_BEGIN.length);
for (const lower of [...TRANSACTIONS, ...NO_USE, ...ITERATIONS]) {
  for (const name of [lower, lower.toUpperCase()]) {
    MAY_BEGIN[name.length * 256 + name.charCodeAt(0)] = 1;
    MAY_END[name.length * 256 + name.charCodeAt(name.length - 1)] = 1;
  }
}

/** The length in a line, and the start of the next line. */
const line = { value: 0, end: 0 };
type LineState = "whole" | "partial" | "wrong";

/**
 * Knows at each moment whether a command has been sent in part, whether a transaction or a watched key would be lost
 * with the connection to the engine, and which login the client has tried last. The cost is per argument, not per byte.
 */
export class CommandFramer implements MessageFramer {
  /** A line or a name whose end has not arrived. */
  #held: Uint8Array | null = null;
  /** Arguments of the present command that have not begun yet. */
  #argumentsLeft = 0;
  #bytesLeft = 0;
  #isNameNext = false;
  #count = 0;
  #isUse = false;
  #isInTransaction = false;
  #isWatching = false;
  #hasIterated = false;
  /** The client has sent bytes that are no command; the engine is about to close. */
  #isLost = false;
  /** What has arrived of a command that can log the client in; null for other commands. */
  #loginArguments: string[] | null = null;
  #loginBytes = 0;
  #login: Login | null = null;

  /** The login that the client has tried last, which the engine may have refused; null without one. */
  get login(): Login | null {
    return this.#login;
  }

  /**
   * Whether the client may have a cursor of the engine. Only the engine's answers show the end of an iteration, and they
   * are not examined.
   */
  get hasIterated(): boolean {
    return this.#hasIterated;
  }

  get isBetweenMessages(): boolean {
    if (this.#isLost) return true;
    const isWhole = this.#held === null && this.#argumentsLeft === 0 && this.#bytesLeft === 0;
    return isWhole && !this.#isInTransaction && !this.#isWatching;
  }

  walk(bytes: Uint8Array, length: number): boolean {
    if (this.#isLost) return true;
    if (this.#held === null) return this.#walk(bytes, length);
    const joined = Buffer.concat([this.#held, bytes.subarray(0, length)]);
    this.#held = null;
    return this.#walk(joined, joined.length);
  }

  #walk(bytes: Uint8Array, length: number): boolean {
    let isUse = false;
    let at = 0;
    while (at < length) {
      let start = at;
      if (this.#bytesLeft > 0) {
        at = Math.min(length, at + this.#bytesLeft);
        this.#bytesLeft -= at - start;
      } else if (this.#argumentsLeft > 0) {
        at = this.#isNameNext ? this.#walkName(bytes, at, length) : this.#walkArgument(bytes, at, length);
      } else {
        const plainEnd = skipPlain(bytes, at, length);
        if (plainEnd > at) isUse = true;
        at = plainEnd;
        if (at >= length) break;
        start = at;
        this.#isUse = false;
        at = bytes[at] === STAR ? this.#walkArray(bytes, at, length) : this.#walkInline(bytes, at, length);
      }
      isUse ||= this.#isUse;
      if (this.#isLost) return true;
      if (at === start) {
        this.#hold(bytes, start, length);
        break;
      }
    }
    return isUse;
  }

  #hold(bytes: Uint8Array, start: number, length: number): void {
    if (length - start > MAX_LINE_BYTES) this.#isLost = true;
    else this.#held = bytes.slice(start, length);
  }

  #walkArray(bytes: Uint8Array, at: number, length: number): number {
    const state = readLine(bytes, at, length);
    if (state !== "whole") return this.#stop(state, at);
    this.#count = line.value;
    this.#argumentsLeft = Math.max(0, line.value);
    this.#isNameNext = true;
    this.#loginArguments = null;
    return line.end;
  }

  #walkName(bytes: Uint8Array, at: number, length: number): number {
    const state = bytes[at] === DOLLAR ? readLine(bytes, at, length) : "wrong";
    if (state !== "whole") return this.#stop(state, at);
    const { value: size, end: start } = line;
    if (size <= LONGEST_NAME && start + size > length) return at;
    this.#isNameNext = false;
    this.#argumentsLeft--;
    this.#bytesLeft = size + 2;
    if (!mayMatter(bytes, start, size)) this.#isUse = true;
    else this.#note(latin1(bytes, start, size));
    return start;
  }

  #walkArgument(bytes: Uint8Array, at: number, length: number): number {
    const state = bytes[at] === DOLLAR ? readLine(bytes, at, length) : "wrong";
    if (state !== "whole") return this.#stop(state, at);
    const { value: size, end: start } = line;
    if (this.#loginArguments !== null) {
      if (size > MAX_PARSED_BYTES) this.#loginArguments = null;
      else if (start + size > length) return at;
      else this.#noteArgument(latin1(bytes, start, size));
    }
    this.#argumentsLeft--;
    this.#bytesLeft = size + 2;
    return start;
  }

  #noteArgument(argument: string): void {
    if (this.#loginArguments === null) return;
    this.#loginBytes += argument.length;
    if (this.#count > MAX_PARSED_ELEMENTS || this.#loginBytes > MAX_PARSED_BYTES) {
      this.#loginArguments = null;
      return;
    }
    this.#loginArguments.push(argument);
    if (this.#loginArguments.length === this.#count)
      this.#login = loginOf(this.#loginArguments) ?? this.#login;
  }

  #walkInline(bytes: Uint8Array, at: number, length: number): number {
    const end = lineFeedAt(bytes, at, length);
    if (end < 0) return at;
    const start = skipSpaces(bytes, at, end);
    if (start === end) return skipBlankLines(bytes, end + 1, length);
    const nameEnd = plainWordEnd(bytes, start, end);
    const isPlain = nameEnd >= 0;
    // Nearly all lines are use and nothing else, and their words need no reading.
    if (isPlain && !mayMatter(bytes, start, nameEnd - start)) this.#isUse = true;
    else if (isPlain && skipSpaces(bytes, nameEnd, end) === end)
      this.#noteWords([latin1(bytes, start, nameEnd - start)]);
    else this.#noteWords(splitInline(latin1(bytes, start, end - start)));
    return end + 1;
  }

  /** @param words null for a line that the engine refuses. */
  #noteWords(words: string[] | null): void {
    if (words === null) {
      this.#isLost = true;
      return;
    }
    const [name = "", ...given] = words;
    this.#count = words.length;
    this.#note(name);
    for (const word of given) this.#noteArgument(word);
  }

  #stop(state: LineState, at: number): number {
    if (state === "wrong") this.#isLost = true;
    return at;
  }

  #note(given: string): void {
    const name = given.toLowerCase();
    this.#isUse = !NO_USE.has(name);
    this.#loginArguments = LOGINS.has(name) ? [name] : null;
    this.#loginBytes = name.length;
    if (ITERATIONS.has(name)) this.#hasIterated = true;
    if (name === "watch") this.#isWatching ||= !this.#isInTransaction;
    // The engine refuses the commands below when they have arguments.
    if (this.#count !== 1) return;
    if (name === "multi") this.#isInTransaction = true;
    else if (name === "unwatch") this.#isWatching &&= this.#isInTransaction;
    else if (name === "reset") this.#forget();
    else if (this.#isInTransaction && (name === "exec" || name === "discard")) this.#forget();
  }

  #forget(): void {
    this.#isInTransaction = false;
    this.#isWatching = false;
  }
}

function latin1(bytes: Uint8Array, start: number, size: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, size).toString("latin1");
}

/** Whether the name of that size may matter; nearly all names that do not differ in their first or last byte. */
function mayMatter(bytes: Uint8Array, start: number, size: number): boolean {
  if (size > LONGEST_NAME || MAY_BEGIN[size * 256 + (bytes[start] ?? 0)] !== 1) return false;
  return MAY_END[size * 256 + (bytes[start + size - 1] ?? 0)] === 1;
}

/**
 * Skips whole commands that are use and nothing else, as nearly all commands are; this makes them cost a quarter.
 * @returns the start of the first command that matters or is incomplete.
 */
function skipPlain(bytes: Uint8Array, start: number, length: number): number {
  let commandAt = start;
  while (commandAt < length && bytes[commandAt] === STAR) {
    // Bytes behind the end of the chunk never make a whole command: `at` is beyond `length` then.
    let at = commandAt + 1;
    let left = 0;
    for (let byte = bytes[at] ?? 0; byte !== CARRIAGE_RETURN && at < length; byte = bytes[++at] ?? 0) {
      if (byte < ZERO || byte > NINE) return commandAt;
      left = left * 10 + byte - ZERO;
    }
    at += 2;
    if (left === 0) return commandAt;
    for (let isName = true; left > 0; left--, isName = false) {
      if (at >= length || bytes[at] !== DOLLAR) return commandAt;
      let size = 0;
      at++;
      for (let byte = bytes[at] ?? 0; byte !== CARRIAGE_RETURN && at < length; byte = bytes[++at] ?? 0) {
        if (byte < ZERO || byte > NINE) return commandAt;
        size = size * 10 + byte - ZERO;
      }
      at += 2;
      if (isName && mayMatter(bytes, at, size)) return commandAt;
      at += size + 2;
    }
    if (at > length) return commandAt;
    commandAt = at;
  }
  return commandAt;
}

/** Reads a line of one character and a length into `line`; the shared object saves an allocation per argument. */
function readLine(bytes: Uint8Array, at: number, length: number): LineState {
  let index = at + 1;
  const isNegative = bytes[index] === MINUS;
  if (isNegative) index++;
  let value = 0;
  for (; index < length; index++) {
    const digit = (bytes[index] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (index + 1 >= length) return index - at > 24 ? "wrong" : "partial";
  if (bytes[index] !== CARRIAGE_RETURN || value > Number.MAX_SAFE_INTEGER) return "wrong";
  line.value = isNegative ? -value : value;
  line.end = index + 2;
  return isNegative && bytes[at] === DOLLAR ? "wrong" : "whole";
}

// Reads the commands of a cache's clients, with the limits and the errors of the engine.
// https://redis.io/docs/latest/develop/reference/protocol-spec/
import { skipBlankLines, splitInline } from "./inline.ts";

const STAR = 0x2a;
const DOLLAR = 0x24;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The longest line, of an inline command or of a length. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_ELEMENTS = 2 ** 31 - 1;
const MAX_BULK_BYTES = 512 * 1024 * 1024;
/** The largest command that the gateway parses; the engine allows no larger command before a login either. */
export const MAX_PARSED_ELEMENTS = 10;
const MAX_PARSED_BULK_BYTES = 16 * 1024;
/** The total size of a parsed command: an incomplete command is parsed anew with each piece that arrives. */
export const MAX_PARSED_BYTES = MAX_PARSED_BULK_BYTES + 1024;

/** The beginning of the bytes at hand. */
export type Parsed =
  /** One character of `args` is a byte; a command without arguments gets no answer. */
  | { kind: "command"; args: string[]; end: number }
  /** An incomplete command. `name` is known as soon as it has arrived. */
  | { kind: "partial"; name: string | null }
  /** A command too large for the gateway to answer. */
  | { kind: "large" }
  /** The engine's error before it closes the connection, without `-ERR Protocol error: `. */
  | { kind: "fault"; message: string };

const PARTIAL: Parsed = { kind: "partial", name: null };

/**
 * Reads the first command.
 * @param isTrusted whether the client has logged in; before a login a large command is a fault.
 */
export function parseCommand(bytes: Buffer, isTrusted: boolean): Parsed {
  if (bytes.length === 0) return PARTIAL;
  return bytes[0] === STAR ? parseArray(bytes, isTrusted) : parseInline(bytes, isTrusted);
}

function parseInline(bytes: Buffer, isTrusted: boolean): Parsed {
  const end = bytes.indexOf(LINE_FEED);
  if ((end < 0 ? bytes.length : end) > lineLimit(0, isTrusted)) return fault("too big inline request");
  if (end < 0) return PARTIAL;
  const lineEnd = bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
  const args = splitInline(bytes.toString("latin1", 0, lineEnd));
  if (args === null) return fault("unbalanced quotes in request");
  const next = end + 1;
  return { kind: "command", args, end: args.length > 0 ? next : skipBlankLines(bytes, next, bytes.length) };
}

function parseArray(bytes: Buffer, isTrusted: boolean): Parsed {
  const header = readLength(bytes, 0, isTrusted);
  if (header === "partial") return PARTIAL;
  if (header === "long") return fault("too big mbulk count string");
  const { value: count, end } = header;
  if (count === null || count > MAX_ELEMENTS) return fault("invalid multibulk length");
  if (count > MAX_PARSED_ELEMENTS) {
    return isTrusted ? { kind: "large" } : fault("unauthenticated multibulk length");
  }
  const args: string[] = [];
  let at = end;
  while (args.length < count) {
    const bulk = readBulk(bytes, at, isTrusted);
    if (bulk === PARTIAL) return { kind: "partial", name: args[0] ?? null };
    if ("kind" in bulk) return bulk;
    args.push(bulk.text);
    at = bulk.end;
  }
  return { kind: "command", args, end: at };
}

function readBulk(bytes: Buffer, at: number, isTrusted: boolean): { text: string; end: number } | Parsed {
  const header = readLength(bytes, at, isTrusted);
  if (header === "partial") return PARTIAL;
  if (header === "long") return fault("too big bulk count string");
  if (bytes[at] !== DOLLAR) return fault(`expected '$', got '${String.fromCharCode(bytes[at] ?? 0)}'`);
  const { value: length, end: start } = header;
  if (length === null || length < 0 || length > MAX_BULK_BYTES) return fault("invalid bulk length");
  if (length > MAX_PARSED_BULK_BYTES || start + length > MAX_PARSED_BYTES) {
    return isTrusted ? { kind: "large" } : fault("unauthenticated bulk length");
  }
  const end = start + length;
  // The engine does not check the two bytes after the text either.
  if (bytes.length < end + 2) return PARTIAL;
  return { text: bytes.toString("latin1", start, end), end: end + 2 };
}

/** Reads a line of one character and a length; `value` is null for a length that is no strict integer. */
function readLength(
  bytes: Buffer,
  at: number,
  isTrusted: boolean,
): { value: number | null; end: number } | "partial" | "long" {
  const end = bytes.indexOf(CARRIAGE_RETURN, at);
  if (end < 0) return bytes.length > lineLimit(at, isTrusted) ? "long" : "partial";
  if (end + 2 > bytes.length) return "partial";
  return { value: strictInteger(bytes.toString("latin1", at + 1, end)), end: end + 2 };
}

/** The byte of a command by which a line that begins at `at` has to end; before a login it bounds the memory. */
function lineLimit(at: number, isTrusted: boolean): number {
  return isTrusted ? at + MAX_LINE_BYTES : MAX_PARSED_BYTES;
}

/** Parses a 64-bit integer without plus sign, leading zeros or spaces; null for any other text. */
export function strictInteger(text: string): number | null {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? Number(value) : null;
}

function fault(message: string): Parsed {
  return { kind: "fault", message };
}

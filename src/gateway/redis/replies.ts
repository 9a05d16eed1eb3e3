// The replies of a cache (RESP): writes the gateway's own replies, and reads an engine's replies to the gateway.

const CARRIAGE_RETURN = 0x0d;

export const OK = "+OK\r\n";

/** @param message the text, which begins with its class, such as `ERR` or `NOAUTH`. */
export function errorReply(message: string): string {
  // The engine replaces line ends too: a line end within the message would end the reply.
  return `-${message.replaceAll(/[\r\n]/g, " ")}\r\n`;
}

/** The engine's own text. */
export const TOO_MANY_CLIENTS = errorReply("ERR max number of clients reached");

export function bulkReply(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

export function nullReply(protocol: 2 | 3): string {
  return protocol === 3 ? "_\r\n" : "$-1\r\n";
}

/** A command as an array of bulk strings. */
export function commandBytes(...args: string[]): string {
  return `*${args.length}\r\n${args.map(bulkReply).join("")}`;
}

/** An engine's reply; `type` is its first character, such as `+`, `-`, `$`; an aggregate has no text. */
export interface Reply {
  type: string;
  text: string;
  end: number;
}

/**
 * Reads one reply of either protocol version.
 * @returns null when the reply is incomplete.
 * @throws RangeError when the bytes are no reply.
 */
export function parseReply(bytes: Buffer, start: number): Reply | null {
  const lineEnd = bytes.indexOf(CARRIAGE_RETURN, start);
  if (lineEnd < 0 || lineEnd + 2 > bytes.length) return null;
  const type = bytes.toString("latin1", start, start + 1);
  const line = bytes.toString("latin1", start + 1, lineEnd);
  const end = lineEnd + 2;
  if ("+-:_#,(".includes(type)) return { type, text: line, end };
  const count = Number(line);
  if (!Number.isSafeInteger(count)) throw new RangeError("an engine's answer has no length");
  if ("$=!".includes(type)) return parseText(bytes, type, end, count);
  if ("*~>%|".includes(type)) return parseElements(bytes, type, end, "%|".includes(type) ? count * 2 : count);
  throw new RangeError("an engine's answer is of no known type");
}

function parseText(bytes: Buffer, type: string, start: number, length: number): Reply | null {
  if (length < 0) return { type, text: "", end: start };
  const end = start + length;
  if (bytes.length < end + 2) return null;
  // A verbatim string begins with three characters for its format, and a colon.
  return { type, text: bytes.toString("latin1", type === "=" ? start + 4 : start, end), end: end + 2 };
}

function parseElements(bytes: Buffer, type: string, start: number, count: number): Reply | null {
  let end = start;
  for (let index = 0; index < count; index++) {
    const element = parseReply(bytes, end);
    if (element === null) return null;
    end = element.end;
  }
  return { type, text: "", end };
}

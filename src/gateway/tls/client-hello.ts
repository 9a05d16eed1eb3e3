// The first message of a TLS client (RFC 8446, section 4.1.2), of which the gateway needs two names: Bun's sockets cannot
// choose a certificate in the middle of the handshake.

/** The names that a client asks for. */
export interface ClientHello {
  /** In lower case. */
  serverName: string | null;
  /** The application protocols that it offers (ALPN); empty without any. */
  protocols: string[];
}

const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
/** The largest record (RFC 8446, section 5.1), and far more than any client's first message. */
const MAX_RECORD_BYTES = 16_384;
const MAX_MESSAGE_BYTES = 16_384;
/** Clients send the message in one record or in a few; the limit bounds the work for a client that has not logged in. */
const MAX_RECORDS = 32;
/** The client's version and random bytes. */
const FIXED_BYTES = 34;
const [SERVER_NAME, ALPN] = [0, 16];
const HOST_NAME = 0;

/** A message that has arrived in part. */
export interface PartialHello {
  /** How many bytes of the connection show more of it; fewer bytes show nothing new. */
  neededBytes: number;
}

/**
 * Reads the message from the first bytes of a connection.
 * @returns `other` when the bytes are no such message.
 */
export function readClientHello(bytes: Uint8Array): ClientHello | PartialHello | "other" {
  const message = messageIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (!Buffer.isBuffer(message)) return message;
  try {
    return namesIn(new Cursor(message));
  } catch (error) {
    if (error instanceof RangeError) return "other";
    throw error;
  }
}

/** The message without its header; it may be spread over several records. */
function messageIn(bytes: Buffer): Buffer | PartialHello | "other" {
  const parts: Buffer[] = [];
  let [at, found, end] = [0, 0, MESSAGE_HEADER_BYTES];
  while (parts.length < MAX_RECORDS) {
    const [type] = bytes.subarray(at);
    if (type !== undefined && type !== HANDSHAKE_RECORD) return "other";
    const start = at + RECORD_HEADER_BYTES;
    if (bytes.length < start) return { neededBytes: start };
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] !== 3 || length === 0 || length > MAX_RECORD_BYTES) return "other";
    const part = bytes.subarray(start, start + length);
    const before = found;
    parts.push(part);
    found += part.length;
    if (before < MESSAGE_HEADER_BYTES && found >= MESSAGE_HEADER_BYTES) {
      const header = Buffer.concat(parts, MESSAGE_HEADER_BYTES);
      end += header.readUIntBE(1, 3);
      if (header[0] !== CLIENT_HELLO || end > MAX_MESSAGE_BYTES) return "other";
    }
    if (found >= end) return Buffer.concat(parts, end).subarray(MESSAGE_HEADER_BYTES);
    if (part.length < length) return { neededBytes: start + Math.min(length, end - before) };
    at = start + length;
  }
  return "other";
}

function namesIn(hello: Cursor): ClientHello {
  const names: ClientHello = { serverName: null, protocols: [] };
  hello.skip(FIXED_BYTES);
  hello.skip(hello.number(1));
  hello.skip(hello.number(2));
  hello.skip(hello.number(1));
  if (hello.isAtEnd) return names;
  const extensions = hello.part(2);
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.part(2);
    if (type === SERVER_NAME) names.serverName = serverNameIn(content.part(2));
    if (type === ALPN) names.protocols = protocolsIn(content.part(2));
  }
  return names;
}

function serverNameIn(list: Cursor): string | null {
  while (!list.isAtEnd) {
    const type = list.number(1);
    const name = list.part(2).text();
    if (type === HOST_NAME) return name.toLowerCase();
  }
  return null;
}

function protocolsIn(list: Cursor): string[] {
  const protocols: string[] = [];
  while (!list.isAtEnd) protocols.push(list.part(1).text());
  return protocols;
}

/** Reads bytes in order. Every method throws a RangeError beyond the end. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(bytes: 1 | 2): number {
    this.skip(bytes);
    return this.#bytes.readUIntBE(this.#at - bytes, bytes);
  }

  skip(length: number): void {
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError("the message ends too early");
  }

  /** The bytes after a length of so many bytes. */
  part(lengthBytes: 1 | 2): Cursor {
    const length = this.number(lengthBytes);
    this.skip(length);
    return new Cursor(this.#bytes.subarray(this.#at - length, this.#at));
  }

  text(): string {
    return this.#bytes.toString("latin1");
  }
}

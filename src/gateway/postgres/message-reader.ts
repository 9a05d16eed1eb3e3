// Reads whole messages: from a client exactly the message's bytes, from an engine all bytes that have arrived.
import { StreamEnded, type Stream } from "../stream.ts";
import { EngineLost, ProtocolError, SQLSTATE } from "./errors.ts";
import { HEADER_BYTES } from "./messages.ts";

/** A message and its body. */
export interface Message {
  type: string;
  /** The whole message, with type and length. */
  bytes: Buffer;
  body: Buffer;
}

/** The longest message of a client before its login (PG_MAX_SASL_MESSAGE_LENGTH). */
const MAX_PASSWORD_BYTES = 1024;

const PASSWORD_MESSAGE = "p".charCodeAt(0);

/**
 * The body of a client's authentication message. Later bytes stay unread, as they are for the engine.
 * @throws ProtocolError for a message of another type or beyond the limit; StreamEnded.
 */
export async function readPasswordMessage(client: Stream): Promise<Buffer> {
  const header = Buffer.from(await client.read(HEADER_BYTES));
  const type = header[0] ?? 0;
  if (type !== PASSWORD_MESSAGE) {
    throw new ProtocolError(SQLSTATE.protocolViolation, `expected SASL response, got message type ${type}`);
  }
  const length = header.readInt32BE(1) - 4;
  if (length < 1 || length > MAX_PASSWORD_BYTES) {
    throw new ProtocolError(SQLSTATE.protocolViolation, "invalid message length");
  }
  return Buffer.from(await client.read(length));
}

/** The most bytes of an engine during a login; a few hundred are usual. */
const MAX_LOGIN_BYTES = 1024 * 1024;

/** The messages of an engine during a login. */
export class EngineReader {
  readonly #engine: Stream;
  #unread = Buffer.alloc(0);
  #bytesTaken = 0;

  constructor(engine: Stream) {
    this.#engine = engine;
  }

  /** @throws EngineLost when the connection ends, or the bytes cannot be a message of a login. */
  async next(): Promise<Message> {
    await this.#have(HEADER_BYTES);
    const length = this.#unread.readInt32BE(1) + 1;
    if (length < HEADER_BYTES || length > MAX_LOGIN_BYTES) throw new EngineLost();
    await this.#have(length);
    const bytes = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    return { type: String.fromCharCode(bytes[0] ?? 0), bytes, body: bytes.subarray(HEADER_BYTES) };
  }

  /** The bytes after the last message. */
  rest(): Buffer {
    return this.#unread;
  }

  async #have(length: number): Promise<void> {
    while (this.#unread.length < length) {
      const bytes = await this.#readSome();
      this.#bytesTaken += bytes.length;
      if (this.#bytesTaken > MAX_LOGIN_BYTES) throw new EngineLost();
      this.#unread = this.#unread.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#unread, bytes]);
    }
  }

  async #readSome(): Promise<Uint8Array> {
    try {
      return await this.#engine.readSome();
    } catch (error) {
      throw error instanceof StreamEnded ? new EngineLost() : error;
    }
  }
}

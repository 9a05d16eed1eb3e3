// Reads answers of a Redis or Valkey (RESP 2) from chunks of bytes, within a bound that a customer's data cannot pass.

/** An answer of the engine. */
export type Reply = Buffer | number | null | ReplyError | Reply[];

/** A refusal of the engine, in its own words. */
export class ReplyError extends Error {
  override name = "ReplyError";
}

/** The engine answers with more bytes than are read. */
export class TooLarge extends Error {
  override name = "TooLarge";
}

const CRLF = "\r\n";
/** The most elements of all answers of a connection. */
const MAX_ELEMENTS = 20_000;
/** No command of the key browser has an answer with deeper arrays. */
const MAX_DEPTH = 4;

/** Encodes a command. */
export function encodeCommand(parts: readonly (string | Buffer)[]): Buffer {
  const bytes = parts.flatMap((part) => {
    const text = Buffer.from(part as string);
    return [Buffer.from(`$${text.length}${CRLF}`), text, Buffer.from(CRLF)];
  });
  return Buffer.concat([Buffer.from(`*${parts.length}${CRLF}`), ...bytes]);
}

/** Gets chunks as they come, and yields whole answers. */
export class ReplyReader {
  readonly #mostBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes of all answers so far. */
  #taken = 0;
  #elements = 0;
  #arrival = Promise.withResolvers<void>();

  /** @param mostBytes the bound of all answers together. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#arrival.promise.catch(() => undefined);
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#taken + this.#size > this.#mostBytes) this.fail(new TooLarge("the answers are too large"));
    else this.#arrival.resolve();
  }

  /** Ends the present and every later read. */
  fail(reason: Error): void {
    this.#arrival.reject(reason);
    this.#arrival = Promise.withResolvers();
    this.#arrival.promise.catch(() => undefined);
    this.#arrival.reject(reason);
  }

  /** The next answer. @throws TooLarge, or the error that ended the connection. */
  async reply(depth = 0): Promise<Reply> {
    const line = await this.#line();
    const rest = line.slice(1);
    switch (line[0]) {
      case "+":
        return Buffer.from(rest, "latin1");
      case "-":
        return new ReplyError(rest);
      case ":":
        return Number(rest);
      case "$":
        return rest === "-1" ? null : await this.#bulk(lengthOf(rest));
      case "*":
        return rest === "-1" ? null : await this.#array(lengthOf(rest), depth + 1);
      default:
        throw new Error("the answer is not of the protocol");
    }
  }

  async #bulk(length: number): Promise<Buffer> {
    if (this.#taken + length > this.#mostBytes) throw new TooLarge("the answer is too large");
    return (await this.#take(length + CRLF.length)).subarray(0, length);
  }

  async #array(length: number, depth: number): Promise<Reply[]> {
    if (depth > MAX_DEPTH) throw new Error("the answer is nested too deeply");
    this.#elements += length;
    if (this.#elements > MAX_ELEMENTS) throw new TooLarge("the answers have too many elements");
    const replies: Reply[] = [];
    while (replies.length < length) replies.push(await this.reply(depth));
    return replies;
  }

  async #line(): Promise<string> {
    for (;;) {
      const bytes = this.#joined();
      const end = bytes.indexOf(CRLF);
      if (end >= 0) return (await this.#take(end + CRLF.length)).toString("latin1", 0, end);
      await this.#more();
    }
  }

  async #take(length: number): Promise<Buffer> {
    while (this.#size < length) await this.#more();
    const bytes = this.#joined();
    this.#chunks = [bytes.subarray(length)];
    this.#size -= length;
    this.#taken += length;
    return bytes.subarray(0, length);
  }

  /** All bytes in one piece, without a copy where they are in one already. */
  #joined(): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes];
    return bytes;
  }

  async #more(): Promise<void> {
    const before = this.#size;
    while (this.#size === before) {
      await this.#arrival.promise;
      this.#arrival = Promise.withResolvers();
      this.#arrival.promise.catch(() => undefined);
    }
  }
}

function lengthOf(text: string): number {
  const length = Number(text);
  if (!Number.isSafeInteger(length) || length < 0) throw new Error("the answer has no length");
  return length;
}

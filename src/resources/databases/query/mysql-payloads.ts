// Payloads of the MySQL protocol, read on demand: a payload may be a gigabyte, in packets of 16 MB.
import { ConnectionLost } from "./faults.ts";
import type { Wire } from "./wire.ts";

const HEADER_BYTES = 4;
const LARGEST_PACKET_BYTES = 0xff_ff_ff;

/** The first byte of a length-encoded number that is not the number itself. */
const TWO_BYTES = 0xfc;
const THREE_BYTES = 0xfd;
const EIGHT_BYTES = 0xfe;

/** The payload that is being read; a read beyond its end throws ConnectionLost. */
export class Payload {
  readonly #wire: Wire;
  readonly #next: () => Promise<number>;
  /** Of the present packet. */
  #left: number;
  #isLast: boolean;

  constructor(wire: Wire, length: number, next: () => Promise<number>) {
    this.#wire = wire;
    this.#next = next;
    this.#left = length;
    this.#isLast = length < LARGEST_PACKET_BYTES;
  }

  /** Bytes left in the present packet; what fits into a packet is read by this alone. */
  get left(): number {
    return this.#left;
  }

  async read(length: number): Promise<Buffer> {
    if (length <= this.#left) {
      this.#left -= length;
      return await this.#wire.read(length);
    }
    const parts: Buffer[] = [];
    for (let missing = length; missing > 0;) {
      const part = await this.#part(missing);
      parts.push(Buffer.from(await this.#wire.read(part)));
      missing -= part;
    }
    return Buffer.concat(parts);
  }

  async skip(length: number): Promise<void> {
    for (let missing = length; missing > 0;) {
      const part = await this.#part(missing);
      await this.#wire.skip(part);
      missing -= part;
    }
  }

  async skipRest(): Promise<void> {
    await this.skip(this.#left);
    while (!this.#isLast) {
      await this.#advance();
      await this.skip(this.#left);
    }
  }

  async uint(length: 1 | 2 | 3 | 4): Promise<number> {
    return (await this.read(length)).readUIntLE(0, length);
  }

  /** A length-encoded number. @param first its first byte, where that was read already. */
  async number(first?: number): Promise<number> {
    const start = first ?? (await this.uint(1));
    if (start === TWO_BYTES) return await this.uint(2);
    if (start === THREE_BYTES) return await this.uint(3);
    if (start === EIGHT_BYTES) return Number((await this.read(8)).readBigUInt64LE());
    return start;
  }

  /** The text after a length-encoded length. @param maxBytes of a text that the engine bounds. */
  async text(maxBytes: number): Promise<string> {
    const length = await this.number();
    if (length > maxBytes) throw new ConnectionLost("a text is longer than the protocol allows");
    return (await this.read(length)).toString();
  }

  /** The bytes up to a zero, which is skipped. */
  async untilZero(): Promise<Buffer> {
    const bytes: number[] = [];
    for (let byte = await this.uint(1); byte !== 0; byte = await this.uint(1)) bytes.push(byte);
    return Buffer.from(bytes);
  }

  async rest(maxBytes: number): Promise<Buffer> {
    const bytes = Buffer.from(await this.read(Math.min(this.#left, maxBytes)));
    await this.skipRest();
    return bytes;
  }

  /** How much of so many bytes the present packet has, or the next one. */
  async #part(missing: number): Promise<number> {
    if (this.#left === 0) await this.#advance();
    const part = Math.min(missing, this.#left);
    this.#left -= part;
    return part;
  }

  async #advance(): Promise<void> {
    if (this.#isLast) throw new ConnectionLost("a payload is shorter than its fields say");
    this.#left = await this.#next();
    this.#isLast = this.#left < LARGEST_PACKET_BYTES;
  }
}

/** The payloads of a connection. Both sides number the packets of a command together. */
export class Payloads {
  readonly #wire: Wire;
  #sequence = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** The next payload; the one before it must have been read to its end. */
  async receive(): Promise<Payload> {
    return new Payload(this.#wire, await this.#header(), () => this.#header());
  }

  /** @param payload shorter than 16 MB. */
  send(payload: Uint8Array): void {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUIntLE(payload.length, 0, 3);
    header.writeUInt8(this.#sequence, 3);
    this.#sequence = (this.#sequence + 1) & 0xff;
    this.#wire.write(Buffer.concat([header, payload]));
  }

  /** Sends a command with a text. */
  command(code: number, text: string): void {
    this.#sequence = 0;
    this.send(Buffer.concat([Uint8Array.of(code), Buffer.from(text)]));
  }

  async #header(): Promise<number> {
    const header = await this.#wire.read(HEADER_BYTES);
    this.#sequence = (header.readUInt8(3) + 1) & 0xff;
    return header.readUIntLE(0, 3);
  }
}

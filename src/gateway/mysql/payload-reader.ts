// Reads the fields of a payload in order.

/** Thrown when a payload is shorter than its fields say. */
export class MalformedPayload extends Error {
  constructor() {
    super("the packet is malformed");
    this.name = "MalformedPayload";
  }
}

/** Every method throws MalformedPayload when the payload ends before the field. */
export class PayloadReader {
  readonly #payload: Uint8Array;
  #offset: number;

  constructor(payload: Uint8Array, offset = 0) {
    this.#payload = payload;
    this.#offset = offset;
  }

  /** The start of the next field. */
  get offset(): number {
    return this.#offset;
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#payload.length;
  }

  bytes(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#payload.length) throw new MalformedPayload();
    const taken = this.#payload.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }

  /** A little-endian number of one to four bytes. */
  uint(length: 1 | 2 | 3 | 4): number {
    return this.bytes(length).reduce((sum, byte, index) => sum + byte * 2 ** (8 * index), 0);
  }

  /** The bytes up to a zero, which is skipped. */
  untilZero(): Uint8Array {
    const end = this.#payload.indexOf(0, this.#offset);
    if (end === -1) throw new MalformedPayload();
    const taken = this.bytes(end - this.#offset);
    this.#offset = end + 1;
    return taken;
  }

  /** As `untilZero`, but the last field may lack its zero, which some clients leave out. */
  untilZeroOrEnd(): Uint8Array {
    return this.#payload.includes(0, this.#offset) ? this.untilZero() : this.rest();
  }

  /** The bytes after a length-encoded length. */
  lengthEncoded(): Uint8Array {
    return this.bytes(this.lengthEncodedNumber());
  }

  rest(): Uint8Array {
    return this.bytes(this.#payload.length - this.#offset);
  }

  /** A length-encoded number of at most three bytes. */
  lengthEncodedNumber(): number {
    const first = this.uint(1);
    if (first < 0xfb) return first;
    if (first === 0xfc) return this.uint(2);
    if (first === 0xfd) return this.uint(3);
    // No payload here is long enough, or has a number so large, for the form with eight bytes.
    throw new MalformedPayload();
  }
}

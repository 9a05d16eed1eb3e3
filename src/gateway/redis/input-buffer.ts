// The bytes of a client that the gateway has read and not answered yet.

/** Grows with the arriving bytes, and keeps no memory when all of them are answered. */
export class InputBuffer {
  #bytes: Buffer | null = null;
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** All bytes, which stay in the buffer; valid until the next call. */
  view(): Buffer {
    return this.#bytes?.subarray(this.#start, this.#end) ?? Buffer.alloc(0);
  }

  append(bytes: Uint8Array): void {
    if (this.#bytes === null) return this.#keep(bytes);
    const length = this.length + bytes.length;
    if (this.#end + bytes.length > this.#bytes.length) {
      // Twice the needed size, so that bytes that arrive singly are not copied each time.
      const larger = Buffer.allocUnsafeSlow(length * 2);
      larger.set(this.view());
      this.#bytes = larger;
      this.#end = this.length;
      this.#start = 0;
    }
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    this.#start += count;
    if (this.length > 0 && this.#bytes !== null) {
      if (isWasteful(this.length, this.#bytes)) this.#keep(this.view());
      return;
    }
    this.#bytes = null;
    this.#start = 0;
    this.#end = 0;
  }

  /** Removes and returns all bytes. */
  take(): Uint8Array {
    const bytes = this.view();
    this.drop(bytes.length);
    return bytes;
  }

  /** Has these bytes alone, in their own memory where they are few in a large one. */
  #keep({ buffer, byteOffset, length }: Uint8Array): void {
    const bytes = Buffer.from(buffer, byteOffset, length);
    this.#bytes = isWasteful(length, bytes) ? copyOf(bytes) : bytes;
    this.#start = 0;
    this.#end = length;
  }
}

/** Each copy takes a quarter of the memory at most, so all copies together cost less than the first bytes. */
function isWasteful(length: number, { buffer }: Buffer): boolean {
  return length * 4 < buffer.byteLength;
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

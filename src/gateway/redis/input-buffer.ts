// The bytes of a client that have not been answered yet, as long as the gateway answers itself.

/** Grows with what arrives and keeps no memory when all of it was answered. */
export class InputBuffer {
  #bytes: Buffer | null = null;
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** What is there, without taking it; only good until the next call. */
  view(): Buffer {
    return this.#bytes?.subarray(this.#start, this.#end) ?? Buffer.alloc(0);
  }

  append(bytes: Uint8Array): void {
    if (this.#bytes === null) {
      this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      this.#start = 0;
      this.#end = bytes.length;
      return;
    }
    const length = this.length + bytes.length;
    if (this.#end + bytes.length > this.#bytes.length) {
      // Twice as much as is needed, so that bytes which come one by one are not copied each time.
      const larger = Buffer.allocUnsafeSlow(length * 2);
      larger.set(this.view());
      this.#bytes = larger;
      this.#end = this.length;
      this.#start = 0;
    }
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Drops the first so many bytes. */
  drop(count: number): void {
    this.#start += count;
    if (this.length > 0) return;
    this.#bytes = null;
    this.#start = 0;
    this.#end = 0;
  }

  /** All that is there; nothing is kept. */
  take(): Uint8Array {
    const bytes = this.view();
    this.drop(bytes.length);
    return bytes;
  }
}

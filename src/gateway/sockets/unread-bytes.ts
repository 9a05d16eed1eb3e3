// The bytes that have arrived at a socket and that nobody has taken yet.

export class UnreadBytes {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** The count of bytes. */
  get size(): number {
    return this.#size;
  }

  /** @param bytes belong to this object from then on. */
  add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#size += bytes.length;
  }

  clear(): void {
    this.#parts = [];
    this.#size = 0;
  }

  /** The bytes from the front, at most `most`; they belong to the caller. */
  take(most: number): Uint8Array {
    const [first] = this.#parts;
    if (first === undefined) return new Uint8Array();
    if (first.length <= most) {
      this.#parts.shift();
      this.#size -= first.length;
      return first;
    }
    this.#parts[0] = first.subarray(most);
    this.#size -= most;
    // A part that stays in the memory of a large arrival would keep all of it.
    return new Uint8Array(first.subarray(0, most));
  }

  /** Exactly so many bytes from the front, which must be there. */
  takeExactly(length: number): Uint8Array {
    const [first] = this.#parts;
    // Many small parts would be moved up in the list for each part that is taken.
    if (first !== undefined && first.length < length) this.#join();
    return this.take(length);
  }

  /** All bytes, which stay here. */
  peek(): Uint8Array {
    this.#join();
    return this.#parts[0] ?? new Uint8Array();
  }

  #join(): void {
    if (this.#parts.length < 2) return;
    const whole = new Uint8Array(this.#size);
    let filled = 0;
    for (const part of this.#parts) {
      whole.set(part, filled);
      filled += part.length;
    }
    this.#parts = [whole];
  }
}

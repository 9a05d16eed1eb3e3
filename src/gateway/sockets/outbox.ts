// The bytes to be sent on a socket that the kernel has not taken yet.

export class Outbox {
  #parts: Uint8Array[] = [];

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** @param bytes belong to the outbox from here on; the caller must not change them. */
  add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  clear(): void {
    this.#parts = [];
  }

  /**
   * Sends as much as the kernel takes.
   * @param transmit sends bytes; returns how many the kernel took, less than 0 when the connection is broken.
   * @returns false when the connection is broken.
   */
  flush(transmit: (bytes: Uint8Array) => number): boolean {
    for (let first = this.#parts[0]; first !== undefined; first = this.#parts[0]) {
      const sent = transmit(first);
      if (sent < 0) return false;
      if (sent < first.length) {
        this.#parts[0] = first.subarray(sent);
        return true;
      }
      this.#parts.shift();
    }
    return true;
  }
}

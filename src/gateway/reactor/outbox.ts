// The bytes to be sent on a socket that the kernel has not taken yet.
import { FAILED } from "../io-result.ts";
import { addressOf } from "./libc.ts";

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
   * @param transmit sends `length` bytes of memory, as in endpoint.ts.
   * @returns false when the connection is broken.
   */
  flush(transmit: (address: number, length: number) => number): boolean {
    for (let first = this.#parts[0]; first !== undefined; first = this.#parts[0]) {
      const sent = transmit(addressOf(first), first.length);
      if (sent === FAILED || sent === 0) return false;
      if (sent < 0) return true;
      if (sent < first.length) this.#parts[0] = first.subarray(sent);
      else this.#parts.shift();
    }
    return true;
  }
}

// A read that waits for its bytes.
import { StreamEnded } from "../stream.ts";
import { chunk, CHUNK_BYTES } from "./chunk.ts";

/** The most that one read without a length takes. */
const SOME_BYTES = 64 * 1024;

export class PendingRead {
  readonly #wanted: Uint8Array | null;
  readonly #resolve: (bytes: Uint8Array) => void;
  readonly #reject: (error: StreamEnded) => void;
  #filled = 0;
  readonly bytes: Promise<Uint8Array>;

  /** @param length the exact count of bytes, more than 0; null for the bytes of the next arrival. */
  constructor(length: number | null) {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.bytes = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#wanted = length === null ? null : new Uint8Array(length);
  }

  /** How many bytes may be read to the chunk for this read now. */
  get room(): number {
    return this.#wanted === null ? SOME_BYTES : Math.min(CHUNK_BYTES, this.#wanted.length - this.#filled);
  }

  /** Takes the first `count` bytes of the chunk. @returns whether the read is complete. */
  take(count: number): boolean {
    this.#wanted?.set(chunk.subarray(0, count), this.#filled);
    this.#filled += count;
    if (this.#wanted !== null && this.#filled < this.#wanted.length) return false;
    this.#resolve(this.#wanted ?? chunk.slice(0, count));
    return true;
  }

  fail(): void {
    this.#reject(new StreamEnded());
  }
}

// Follows what a client sends after its login from message to message, without looking into any.
import type { MessageFramer } from "../backend.ts";
import { HEADER_BYTES } from "./messages.ts";

/** `X`, which says nothing but goodbye. */
export const TERMINATE = 0x58;

/** The length of a message counts itself. */
const LENGTH_BYTES = 4;

/** Postgres takes no longer ones (PQ_LARGE_MESSAGE_LIMIT). */
const MAX_LENGTH = 0x3fff_ffff;

export class FrontendFramer implements MessageFramer {
  #onFirst: (() => void) | null;
  /** Bytes of the current header that are known. */
  #headerBytes = 0;
  #type = 0;
  #length = 0;
  /** Bytes of the current message that are still to come; infinite once nobody can tell where the next one begins. */
  #bytesLeft = 0;

  /** @param onFirst is called once, before the first bytes are taken in. */
  constructor(onFirst: (() => void) | null = null) {
    this.#onFirst = onFirst;
  }

  get isBetweenMessages(): boolean {
    return this.#headerBytes === 0 && this.#bytesLeft === 0;
  }

  walk(bytes: Uint8Array, length: number): boolean {
    if (this.#onFirst !== null) {
      this.#onFirst();
      this.#onFirst = null;
    }
    let isUse = false;
    let at = 0;
    while (at < length) {
      if (this.#bytesLeft > 0) {
        const step = Math.min(this.#bytesLeft, length - at);
        this.#bytesLeft -= step;
        at += step;
      } else {
        this.#takeHeaderByte(bytes[at] ?? 0);
        at += 1;
      }
      if (this.#type !== TERMINATE) isUse = true;
    }
    return isUse;
  }

  #takeHeaderByte(byte: number): void {
    if (this.#headerBytes === 0) this.#type = byte;
    else this.#length = ((this.#length << 8) | byte) >>> 0;
    this.#headerBytes += 1;
    if (this.#headerBytes < HEADER_BYTES) return;
    const isPossible = this.#length >= LENGTH_BYTES && this.#length <= MAX_LENGTH;
    this.#bytesLeft = isPossible ? this.#length - LENGTH_BYTES : Infinity;
    this.#headerBytes = 0;
    this.#length = 0;
  }
}

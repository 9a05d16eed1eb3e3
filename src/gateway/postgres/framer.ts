// Follows a client's messages after its login by their headers, without reading the bodies.
import type { MessageFramer } from "../backend.ts";
import { HEADER_BYTES } from "./messages.ts";

/** The type `X` of the message Terminate. */
export const TERMINATE = 0x58;

/** The length of a message counts itself. */
const LENGTH_BYTES = 4;

/** The longest message that Postgres accepts (PQ_LARGE_MESSAGE_LIMIT). */
const MAX_LENGTH = 0x3fff_ffff;

export class FrontendFramer implements MessageFramer {
  #onFirst: (() => void) | null;
  /** The count of known bytes of the current header. */
  #headerBytes = 0;
  #type = 0;
  #length = 0;
  /** The missing bytes of the current message; infinite after an impossible length, which hides all later messages. */
  #bytesLeft = 0;

  /** @param onFirst called once, before the first bytes are taken. */
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

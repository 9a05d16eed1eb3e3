// Reads an engine's replies in order.
import type { Stream } from "../stream.ts";
import { parseReply, type Reply } from "./replies.ts";
import { InputBuffer } from "./input-buffer.ts";

/** An ample bound: replies to the gateway's own commands have some dozens of bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

export class ReplyReader {
  readonly #engine: Stream;
  readonly #maxBytes: number;
  readonly #input = new InputBuffer();

  /** @param maxBytes the length of the longest reply. */
  constructor(engine: Stream, maxBytes = MAX_ANSWER_BYTES) {
    this.#engine = engine;
    this.#maxBytes = maxBytes;
  }

  /** Whether bytes have arrived that `next` has not returned. */
  get hasMore(): boolean {
    return this.#input.length > 0;
  }

  /** @throws StreamEnded; RangeError when the bytes are no reply, or too long. */
  async next(): Promise<Reply> {
    for (;;) {
      const reply = this.#input.length === 0 ? null : parseReply(this.#input.view(), 0);
      if (reply !== null) {
        this.#input.drop(reply.end);
        return reply;
      }
      if (this.#input.length > this.#maxBytes) throw new RangeError("an engine's answer is too long");
      this.#input.append(await this.#engine.readSome());
    }
  }
}

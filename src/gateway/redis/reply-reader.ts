// Reads an engine's answers one by one.
import type { Stream } from "../stream.ts";
import { parseReply, type Reply } from "./replies.ts";
import { Inbox } from "./inbox.ts";

/** Answers to what the gateway asks an engine have some dozens. */
const MAX_ANSWER_BYTES = 64 * 1024;

export class ReplyReader {
  readonly #engine: Stream;
  readonly #maxBytes: number;
  readonly #inbox = new Inbox();

  /** @param maxBytes the longest answer that is read. */
  constructor(engine: Stream, maxBytes = MAX_ANSWER_BYTES) {
    this.#engine = engine;
    this.#maxBytes = maxBytes;
  }

  /** Whether something came that was not taken by `next`. */
  get hasMore(): boolean {
    return this.#inbox.length > 0;
  }

  /** @throws StreamEnded; RangeError when it is no answer, or too long. */
  async next(): Promise<Reply> {
    for (;;) {
      const reply = this.#inbox.length === 0 ? null : parseReply(this.#inbox.view(), 0);
      if (reply !== null) {
        this.#inbox.drop(reply.end);
        return reply;
      }
      if (this.#inbox.length > this.#maxBytes) throw new RangeError("an engine's answer is too long");
      this.#inbox.append(await this.#engine.readSome());
    }
  }
}

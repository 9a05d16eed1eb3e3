// Reads an engine's answers one by one.
import type { Stream } from "../stream.ts";
import { parseReply, type Reply } from "./replies.ts";
import { Inbox } from "./inbox.ts";

export class ReplyReader {
  readonly #engine: Stream;
  readonly #inbox = new Inbox();

  constructor(engine: Stream) {
    this.#engine = engine;
  }

  /** Whether something came that was not taken by `next`. */
  get hasMore(): boolean {
    return this.#inbox.length > 0;
  }

  /** @throws StreamEnded; RangeError when it is no answer. */
  async next(): Promise<Reply> {
    for (;;) {
      const reply = this.#inbox.length === 0 ? null : parseReply(this.#inbox.view(), 0);
      if (reply !== null) {
        this.#inbox.drop(reply.end);
        return reply;
      }
      this.#inbox.append(await this.#engine.readSome());
    }
  }
}

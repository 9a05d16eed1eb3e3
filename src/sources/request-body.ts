// The body of a request of git's client, unpacked and within bounds: git keeps all of it but a pack in its memory.
import { SourceRefusal, SourceTooLarge } from "./faults.ts";
import { LENGTH_DIGITS, packetLength } from "./packets.ts";

/** Bytes of the commands of a push, one for each branch; enough for tens of thousands of branches. */
export const MAX_COMMAND_BYTES = 4 << 20;

/** Bytes of the questions of a fetch. Git itself takes no more where they come unpacked. */
export const MAX_QUESTION_BYTES = 10 << 20;

/**
 * The body of a request, unpacked. It is bounded by what git keeps in memory, and the pack of a push by git's own bound.
 * @throws SourceRefusal when it is beyond a bound, or when its commands are malformed.
 */
export async function* bodyOf(request: Request, isPush: boolean): AsyncGenerator<Uint8Array> {
  const commands = new CommandList();
  let bytes = 0;
  for await (const part of unpacked(request)) {
    bytes += part.length;
    if (isPush) commands.take(part);
    else if (bytes > MAX_QUESTION_BYTES) throw tooLong("The fetch names", "commits", MAX_QUESTION_BYTES);
    yield part;
  }
}

/** Whether the body is packed, so that its length is none of what git gets. */
export function isPacked({ headers }: Request): boolean {
  return headers.get("content-encoding") === "gzip";
}

function unpacked(request: Request): AsyncIterable<Uint8Array> | Uint8Array[] {
  const { body } = request;
  if (body === null) return [];
  return isPacked(request) ? body.pipeThrough(new DecompressionStream("gzip")) : body;
}

/** Follows the commands at the beginning of a push, up to the flush before its pack. */
class CommandList {
  #digits = "";
  /** Bytes that are missing of the present command. */
  #missing = 0;
  #bytes = 0;
  #isWhole = false;

  /** Looks at the next bytes before git gets them. @throws SourceRefusal */
  take(part: Uint8Array): void {
    for (let at = 0; at < part.length && !this.#isWhole;) {
      const taken = this.#missing > 0 ? Math.min(this.#missing, part.length - at) : 1;
      if (this.#missing > 0) this.#missing -= taken;
      else this.#addDigit(part[at] ?? 0);
      at += taken;
      this.#bytes += taken;
      if (this.#bytes > MAX_COMMAND_BYTES) throw tooLong("The push changes", "branches", MAX_COMMAND_BYTES);
    }
  }

  #addDigit(byte: number): void {
    this.#digits += String.fromCharCode(byte);
    if (this.#digits.length < LENGTH_DIGITS) return;
    const length = packetLength(this.#digits);
    this.#digits = "";
    this.#isWhole = length === 0;
    if (this.#isWhole) return;
    // An empty command costs more than it has bytes, and no client sends any.
    if (!(length > LENGTH_DIGITS)) throw new SourceRefusal("The push is malformed.");
    this.#missing = length - LENGTH_DIGITS;
  }
}

function tooLong(beginning: string, what: string, bytes: number): SourceTooLarge {
  const most = `${bytes >> 20} MiB`;
  return new SourceTooLarge(
    `${beginning} too many ${what} at once: their list has more than ${most}. Send them in several parts.`,
  );
}

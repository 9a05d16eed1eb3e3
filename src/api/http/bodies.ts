// Receives bodies: how large each may be, how long it may take, and how much memory those that are on their way hold.
import { ApiError } from "../jsonapi/errors.ts";

/** One mebibyte; the largest body that any operation needs is far smaller. */
const MAX_BODY_BYTES = 1024 ** 2;

/** The largest body of a client that has proved nothing. Connections bound such bodies, so they need no further room. */
const SMALL_BODY_BYTES = 16 * 1024;

/** What larger bodies on their way may hold, of one family of organizations and of all. */
const ROOM_OF_FAMILY = 16 * MAX_BODY_BYTES;
const ROOM_OF_ALL = 128 * MAX_BODY_BYTES;

/** The longest time that a body may take. */
const DEADLINE_MS = 60_000;

const NO_ROOM = "Too many large bodies are on their way at once. Try again when some have come.";

/** The connection ends, since the rest of the body may follow. */
const UNREAD = { Connection: "close" };

/** The bodies that are on their way to one server. */
export class Bodies {
  readonly #deadlineMs: number;
  readonly #held = new Map<string, number>();
  #heldByAll = 0;

  constructor(deadlineMs = DEADLINE_MS) {
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Receives the body of a request.
   * @param familyId that of the organization behind the request; null for a client that has proved nothing.
   * @throws ApiError 400, 408, 413 or 429
   */
  async receive(request: Request, familyId: string | null): Promise<Uint8Array> {
    const announced = request.headers.get("content-length");
    const mostBytes = familyId === null ? SMALL_BODY_BYTES : MAX_BODY_BYTES;
    if (Number(announced ?? 0) > mostBytes) throw tooLarge(mostBytes);
    if (request.body === null) return new Uint8Array();
    // A body without a length may become as large as any.
    const bytes = announced === null ? mostBytes : Number(announced);
    const isHeld = familyId !== null && bytes > SMALL_BODY_BYTES;
    if (isHeld) this.#hold(familyId, bytes);
    try {
      return await this.#inTime(receiveBytes(request, request.body, mostBytes));
    } catch (cause) {
      // Nobody reads this answer. As a fault of the service, each such client would fill the log with it.
      if (request.signal.aborted) throw new ApiError(400, "The body has ended too early.", { cause });
      throw cause;
    } finally {
      if (isHeld) this.#release(familyId, bytes);
    }
  }

  #hold(familyId: string, bytes: number): void {
    const held = (this.#held.get(familyId) ?? 0) + bytes;
    if (held > ROOM_OF_FAMILY || this.#heldByAll + bytes > ROOM_OF_ALL)
      throw new ApiError(429, NO_ROOM, { headers: { "Retry-After": "1", ...UNREAD } });
    this.#held.set(familyId, held);
    this.#heldByAll += bytes;
  }

  #release(familyId: string, bytes: number): void {
    const left = (this.#held.get(familyId) ?? 0) - bytes;
    if (left > 0) this.#held.set(familyId, left);
    else this.#held.delete(familyId);
    this.#heldByAll -= bytes;
  }

  async #inTime<T>(receiving: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const seconds = Math.ceil(this.#deadlineMs / 1_000);
      late.reject(new ApiError(408, `The body has not come within ${seconds} s.`, { headers: UNREAD }));
    }, this.#deadlineMs);
    timer.unref();
    try {
      return await Promise.race([receiving, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function receiveBytes(
  request: Request,
  body: ReadableStream<Uint8Array>,
  mostBytes: number,
): Promise<Uint8Array> {
  // A body of announced length is read at once; any other may be endless and is counted as it comes.
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > mostBytes) throw tooLarge(mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(mostBytes: number): ApiError {
  return new ApiError(413, `The body is larger than ${mostBytes} bytes.`, { headers: UNREAD });
}

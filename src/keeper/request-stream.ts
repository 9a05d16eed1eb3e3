// The body of a request as a stream, which the host may break off.
import { PublicError } from "../lib/errors.ts";

/** The host gave its request up, for example with a backup that was deleted while it was made. */
export class ClientGone extends PublicError {
  override name = "ClientGone";

  constructor(cause: unknown) {
    super("The stream was broken off.", cause);
  }
}

/** @throws ClientGone when the stream is broken off. */
export async function* bodyOf({ body }: Request): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (error) {
    throw new ClientGone(error);
  }
}

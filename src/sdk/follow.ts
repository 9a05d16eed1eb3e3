// Follows a stream of Server-Sent Events over lost connections.
import type { Connection } from "./connection.ts";
import { isAbsence, PilviError } from "./errors.ts";
import { messagesOf, type StreamMessage } from "./server-sent-events.ts";

/** Short, since a client that comes back asks only for what it missed. */
const RECONNECT_MS = 500;

/** A stream, and where to begin. */
export interface Followed {
  path: string;
  /** The query of a request. @param after the id of the last message. */
  query(after: string | undefined): URLSearchParams;
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields the messages of a stream, each once, until the signal is aborted.
 * @throws PilviError when Pilvi refuses, such as a revoked token; either error of the client when it is away from the
 * beginning.
 */
export async function* followMessages(
  connection: Connection,
  { path, query, after, signal }: Followed,
): AsyncGenerator<StreamMessage, void> {
  let last = after;
  for (let wasOpen = false; ;) {
    try {
      const body = await connection.open({ method: "GET", path, query: query(last), signal });
      wasOpen = true;
      for await (const message of messagesOf(body)) {
        last = message.id ?? last;
        yield message;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      if (!wasOpen || (error instanceof PilviError && !isAbsence(error))) throw error;
    }
    await connection.pause(RECONNECT_MS, "the connection was lost", signal).catch(() => undefined);
    if (signal?.aborted === true) return;
  }
}

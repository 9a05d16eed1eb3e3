// The messages of Server-Sent Events that a client can continue by the id of the last message.
import { RETRY_MS } from "../../api/operation/endless-stream.ts";

/** The headers of a stream; a buffering proxy would hold events back. */
export const STREAM_HEADERS = { "Cache-Control": "no-store", "X-Accel-Buffering": "no" };

/** The first text of a stream: when to reconnect, and the id to go on after, if there is one yet. */
export function streamStart(id?: string): string {
  return `retry: ${RETRY_MS}\n${id === undefined ? "\n" : bookmark(id)}`;
}

/** A message that has no event, but an id to go on after. */
export function bookmark(id: string): string {
  return `event: bookmark\nid: ${id}\ndata: {}\n\n`;
}

/** A message with an event. */
export function eventMessage(id: string, event: unknown): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

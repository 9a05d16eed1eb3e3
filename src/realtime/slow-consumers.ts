// Closes clients that do not read their frames, so that they neither delay others nor take memory without end.
import type { Cluster } from "./cluster.ts";
import type { Connection } from "./connection.ts";
import { OVER_CAPACITY } from "./protocol/close-codes.ts";

/** How often buffers are checked. */
export const BUFFER_CHECK_INTERVAL_MS = 100;

/** The most bytes that a check leaves waiting for one client while few clients are slow. */
const MAX_BUFFERED_BYTES = 1024 ** 2;
/**
 * The most bytes that a check leaves waiting for all slow clients together; the more clients are slow, the less may wait
 * for each.
 */
const MAX_ALL_BUFFERED_BYTES = 256 * 1024 ** 2;
const MIN_BUFFERED_BYTES = 64 * 1024;

/**
 * Closes clients with too many waiting bytes; a client that reads again soon still gets the reason.
 * @returns how many there were.
 */
export function closeSlowConsumers(cluster: Cluster): number {
  return closeAbove(cluster, ({ transport }) => transport.bufferedBytes());
}

/**
 * As `closeSlowConsumers`, by waiting answers alone. A client decides how many answers it gets and how soon, so they
 * cannot wait for the clock; published events can, and an honest reader has until then to read a burst of them.
 */
export function closeByAnswers(cluster: Cluster): number {
  return closeAbove(cluster, ({ transport }) => transport.bufferedAnswerBytes());
}

function closeAbove(cluster: Cluster, bytesOf: (connection: Connection) => number): number {
  const waiting: { connection: Connection; bytes: number }[] = [];
  for (const { connections } of cluster.applications()) {
    for (const connection of connections.values()) {
      const bytes = bytesOf(connection);
      if (bytes > MIN_BUFFERED_BYTES) waiting.push({ connection, bytes });
    }
  }
  const share = Math.max(MIN_BUFFERED_BYTES, MAX_ALL_BUFFERED_BYTES / Math.max(1, waiting.length));
  const slow = waiting.filter(({ bytes }) => bytes > Math.min(MAX_BUFFERED_BYTES, share));
  for (const { connection } of slow) {
    connection.application.counters.slowConsumers += 1;
    connection.closeWith(OVER_CAPACITY);
  }
  return slow.length;
}

// Closes clients that do not read what they are sent, so that they neither delay others nor take memory without end.
import type { Cluster } from "./cluster.ts";
import type { Connection } from "./connection.ts";
import { OVER_CAPACITY } from "./protocol/close-codes.ts";

/** How often buffers are looked at. */
export const BUFFER_CHECK_INTERVAL_MS = 100;

/** What may wait for one client, when few are slow. */
const MAX_BUFFERED_BYTES = 1024 ** 2;
/** What may wait for all slow clients together; the more there are, the less each may have. */
const MAX_ALL_BUFFERED_BYTES = 256 * 1024 ** 2;
const MIN_BUFFERED_BYTES = 64 * 1024;

/** Closes those for whom too much waits; who reads again soon still learns why. @returns how many there were. */
export function closeSlowConsumers(cluster: Cluster): number {
  const waiting: { connection: Connection; bytes: number }[] = [];
  for (const { connections } of cluster.applications()) {
    for (const connection of connections.values()) {
      const bytes = connection.transport.bufferedBytes();
      if (bytes > MIN_BUFFERED_BYTES) waiting.push({ connection, bytes });
    }
  }
  const share = Math.max(MIN_BUFFERED_BYTES, MAX_ALL_BUFFERED_BYTES / Math.max(1, waiting.length));
  const slow = waiting.filter(({ bytes }) => bytes > Math.min(MAX_BUFFERED_BYTES, share));
  for (const { connection } of slow) {
    connection.application.counters.slowConsumers += 1;
    connection.refuse(OVER_CAPACITY);
  }
  return slow.length;
}

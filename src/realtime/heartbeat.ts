// Pings silent connections, and closes those that do not answer.
import type { Cluster } from "./cluster.ts";
import { PONG_MISSING } from "./protocol/close-codes.ts";

/** How often connections are checked. */
export const HEARTBEAT_INTERVAL_MS = 1_000;

/**
 * How long an answer may take. With two intervals between checks, and a third on a busy machine, a dead client is gone
 * within its ping interval and 30 s.
 */
const PONG_TIMEOUT_MS = 27_000;

/**
 * Pings and closes by the time of the last frame from the client, which may also be a ping or a pong of RFC 6455; a
 * frame that was sent to a dead client proves nothing.
 * @param now of the steady clock, in milliseconds.
 */
export function beat(cluster: Cluster, now = performance.now()): void {
  for (const { config, connections } of cluster.applications()) {
    const silentAt = now - config.pingIntervalSeconds * 1_000;
    for (const connection of connections.values()) {
      if (connection.receivedAt > silentAt) continue;
      if (connection.pingedAt === null) {
        connection.pingedAt = now;
        connection.ping();
      } else if (now - connection.pingedAt >= PONG_TIMEOUT_MS) {
        connection.closeWith(PONG_MISSING);
      }
    }
  }
}

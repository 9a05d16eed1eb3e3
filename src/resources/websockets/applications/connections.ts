// How a cluster's connections are given to its applications: evenly, or each as many as was asked for it.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { Transaction } from "../../../store/database.ts";
import type { DistributionStrategy } from "../schema.ts";
import { setStrategy, type WebSocketClusterRow } from "../store.ts";
import { splitEvenly, type ApplicationRow } from "./store.ts";

/** What an application gets, and how the cluster's connections are given from then on. */
export interface Share {
  strategy: DistributionStrategy;
  connections: number;
}

/**
 * Decides what an application gets. One with a number of its own makes the strategy `custom`; the others keep what they have.
 * @param others the cluster's other applications.
 * @param wanted the number that was asked for; undefined for what comes to it.
 * @throws ApiError 422 when the cluster has not so many left.
 */
export function connectionsFor(
  { maxConnections, strategy }: Pick<WebSocketClusterRow, "maxConnections" | "strategy">,
  others: Pick<ApplicationRow, "max_connections">[],
  wanted: number | undefined,
): Share {
  if (wanted === undefined && strategy === "evenly") {
    return { strategy, connections: Math.floor(maxConnections / (others.length + 1)) };
  }
  const left = maxConnections - others.reduce((sum, other) => sum + other.max_connections, 0);
  const connections = wanted ?? left;
  if (connections >= 1 && connections <= left) return { strategy: "custom", connections };
  const advice = others.length > 0 ? " Lower one of theirs first." : "";
  throw invalid({
    max_connections: [
      `The cluster has ${maxConnections} connections, of which its other applications leave ${Math.max(0, left)}.${advice}`,
    ],
  });
}

/** Writes how the connections are given, after the application's own number was written. */
export async function takeConnections(tx: Transaction, serverId: string, { strategy }: Share): Promise<void> {
  if (strategy === "evenly") await splitEvenly(tx, serverId);
  else await setStrategy(tx, serverId, strategy);
}

// The split of a cluster's connections over its applications: evenly, or each application with a number of its own.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { Transaction } from "../../../store/database.ts";
import type { DistributionStrategy } from "../schema.ts";
import { setStrategy, type WebSocketClusterRow } from "../store.ts";
import { splitEvenly, type ApplicationRow } from "./store.ts";

/** The connections of an application, and the cluster's strategy from then on. */
interface Share {
  strategy: DistributionStrategy;
  connections: number;
}

/**
 * Decides the connections of an application. A number of its own makes the strategy `custom`; the other applications
 * keep their connections.
 * @param others the cluster's other applications.
 * @param wanted the requested number; undefined for an even share, or, with the strategy `custom`, for all that are
 * left.
 * @throws ApiError 422 when the cluster has too few left.
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

/** Writes the strategy and the even split, after the application's own number is written. */
export async function takeConnections(
  tx: Transaction,
  clusterId: string,
  { strategy }: Share,
): Promise<void> {
  if (strategy === "evenly") await splitEvenly(tx, clusterId);
  else await setStrategy(tx, clusterId, strategy);
}

// Renders the read replicas of a cluster, from the rows and the latest observed states.
import type { Observation } from "../../../contracts/observation.ts";
import type { ServedHost } from "../../kind.ts";
import { isServed } from "../../shared/status.ts";
import { exposureOf } from "../exposure.ts";
import type { DatabaseClusterRow } from "../store.ts";
import { replicaCountOf } from "./count.ts";
import type { DatabaseReplica } from "./schema.ts";

/** The replicas, the oldest first. */
export function renderReplicas(cluster: DatabaseClusterRow, host: ServedHost): DatabaseReplica[] {
  const hostname = host.hostnames[exposureOf(cluster).scope];
  return cluster.replicas.map(({ id, port }) => {
    const seen = host.observedStates.of(id);
    return {
      id,
      hostname,
      port,
      status: statusOf(seen),
      lag_seconds: seen?.replica?.lagSeconds ?? null,
      last_error: seen?.lastError ?? null,
    };
  });
}

/** Why there are fewer replicas than ordered, as a sentence; null while nothing is known to be in their way. */
export function missingReplicasError(cluster: DatabaseClusterRow): string | null {
  return cluster.replicas.length < replicaCountOf(cluster) ? cluster.replicasError : null;
}

function statusOf(seen: Observation | undefined): DatabaseReplica["status"] {
  if (seen === undefined || seen.state === "absent" || seen.restoring !== undefined) return "creating";
  if (isServed(seen)) return "available";
  // Its first start takes as long as the copy of the data.
  return seen.state === "starting" && seen.crashes === 0 ? "creating" : "unavailable";
}

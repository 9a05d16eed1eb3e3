// The kind `websockets`: clusters of the Pusher Channels protocol, and the applications in them.
import type { ResourceKind } from "../kind.ts";
import { allocationOf } from "./allocation.ts";
import { attachedWebSocketApplications } from "./applications/attached.ts";
import { debugOperations } from "./applications/debug/routes.ts";
import { applicationOperations } from "./applications/routes.ts";
import { clusterGauges } from "./gauges.ts";
import { metricsOperations } from "./metrics/routes.ts";
import { reconcileWebSocketCluster } from "./reconciler.ts";
import { webSocketClusterOperations } from "./routes.ts";
import { loadWebSocketCluster } from "./store.ts";
import { webSocketVariables } from "./variables.ts";

export const websockets: ResourceKind = {
  name: "websockets",
  connectionVariables: webSocketVariables,
  attached: attachedWebSocketApplications,
  operations: (context) => [
    ...webSocketClusterOperations(context),
    ...applicationOperations(context),
    ...debugOperations(context),
    ...metricsOperations(context),
  ],
  reconcile: reconcileWebSocketCluster,
  async allocationOf(db, id) {
    const cluster = await loadWebSocketCluster(db, id);
    return cluster && allocationOf(cluster);
  },
  figures: clusterGauges,
};

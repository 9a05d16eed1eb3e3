// The steps of a WebSocket cluster's reconciler: its spec, its login, and the writing of its result.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { requeueEnvironmentsWith } from "../shared/attached-environments.ts";
import { ensureLogin, loginOf } from "./login.ts";
import { specOf } from "./spec.ts";
import { eraseWebSocketCluster, loadWebSocketCluster, writeWebSocketClusterStatus } from "./store.ts";

/** The reconciler of WebSocket clusters. */
export function reconcileWebSocketCluster(context: KindContext): Reconcile {
  return reconcileInstance(context, {
    load: loadWebSocketCluster,
    specOf: (cluster) => specOf(cluster, context),
    ensureLogin: (cluster) => ensureLogin(loginOf(cluster, context)),
    write: async (tx, cluster, status, seen, isReached) => {
      const ids = cluster.applications.map(({ id }) => id);
      if (isReached && ids.length > 0) await requeueEnvironmentsWith(tx, "websocket_application_id", ids);
      await writeWebSocketClusterStatus(tx, cluster.id, status, seen);
    },
    erase: eraseWebSocketCluster,
    lost: "updating",
  });
}

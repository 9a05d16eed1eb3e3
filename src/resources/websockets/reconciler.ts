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
    specOf: (server) => specOf(server, context),
    ensureLogin: (server) => ensureLogin(loginOf(server, context)),
    write: async (tx, server, status, seen, isReached) => {
      const ids = server.applications.map(({ id }) => id);
      if (isReached && ids.length > 0) await requeueEnvironmentsWith(tx, "websocket_application_id", ids);
      await writeWebSocketClusterStatus(tx, server.id, status, seen);
    },
    erase: eraseWebSocketCluster,
    lost: "updating",
  });
}

// The steps of a WebSocket cluster's reconciler: its spec, its login, and the writing of its result.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { requeueEnvironmentsWith } from "../shared/attached-environments.ts";
import { ensureLogin, type WebSocketClusterLogin } from "./login.ts";
import { urlOf } from "./render.ts";
import { specOf } from "./spec.ts";
import {
  eraseWebSocketCluster,
  loadWebSocketCluster,
  writeWebSocketClusterStatus,
  type WebSocketClusterRow,
} from "./store.ts";

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

function loginOf(server: WebSocketClusterRow, context: KindContext): WebSocketClusterLogin {
  return {
    url: urlOf("http", server, context.hosts.of(server.hostId)),
    applications: server.applications.map(({ id, appId, key, sealedSecret }) => ({
      appId,
      key,
      secret: context.vault.open(sealedSecret, id),
    })),
  };
}

// What brings a WebSocket cluster to its wish: its spec, its login, and what is written of it.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { ensureLogin, type ServerLogin } from "./login.ts";
import { urlOf } from "./render.ts";
import { specOf } from "./spec.ts";
import { eraseServer, loadServer, writeServerStatus, type ServerRow } from "./store.ts";

/** The reconciler of WebSocket clusters. */
export function reconcileServer(context: KindContext): Reconcile {
  return reconcileInstance(context, {
    load: loadServer,
    specOf: (server) => specOf(server, context),
    ensureLogin: (server) => ensureLogin(loginOf(server, context)),
    write: (tx, server, status, seen) => writeServerStatus(tx, server.id, status, seen),
    erase: eraseServer,
    lost: "updating",
  });
}

function loginOf(server: ServerRow, context: KindContext): ServerLogin {
  return {
    url: urlOf("http", server, context),
    applications: server.applications.map(({ id, appId, key, sealedSecret }) => ({
      appId,
      key,
      secret: context.vault.open(sealedSecret, id),
    })),
  };
}

// The spec of a WebSocket cluster for the driver.
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import type { WebSocketApplication } from "../../contracts/websocket-application.ts";
import type { Vault } from "../../lib/secrets.ts";
import { contractOf } from "./applications/fields.ts";
import { stillGood } from "./applications/rotate.ts";
import type { ApplicationRow } from "./applications/store.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** The spec, with the secrets of all applications in clear: only a plain secret can check a signature. */
export function specOf(cluster: WebSocketClusterRow, { vault }: { vault: Vault }): RealtimeSpec {
  return {
    kind: "realtime",
    id: cluster.id,
    engines: ["realtime"],
    users: [],
    exposure: { port: cluster.port, scope: "public", through: "engine" },
    maxConnections: cluster.maxConnections,
    applications: cluster.applications.map((application) => applicationOf(application, vault)),
  };
}

function applicationOf(application: ApplicationRow, vault: Vault): WebSocketApplication {
  const { id, sealedSecret, formerSecrets } = application;
  const former = stillGood(formerSecrets, Date.now());
  return {
    id,
    appId: application.appId,
    key: application.key,
    secrets: [
      { secret: vault.open(sealedSecret, id), expiresAt: null },
      ...former.map(({ sealed, expiresAt }) => ({ secret: vault.open(sealed, id), expiresAt })),
    ],
    maxConnections: application.max_connections,
    ...contractOf(application),
  };
}

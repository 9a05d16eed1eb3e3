// The variables by which an application finds a WebSocket application.
import type { KindContext } from "../kind.ts";
import { urlOf } from "./render.ts";
import { loadWebSocketCluster } from "./store.ts";

/** The address and the credentials, by the names that frameworks read; none for an application that is gone. */
export async function webSocketVariables(context: KindContext, id: string): Promise<Record<string, string>> {
  const [found] = await context.db<{ clusterId: string }[]>`
    select server_id as "clusterId" from websocket_applications where id = ${id}`;
  const cluster = found === undefined ? null : await loadWebSocketCluster(context.db, found.clusterId);
  const application = cluster?.applications.find((each) => each.id === id);
  if (cluster === null || application === undefined) return {};
  const url = new URL(urlOf("http", cluster, context.hosts.of(cluster.hostId)));
  const values = {
    APP_ID: application.appId,
    APP_KEY: application.key,
    APP_SECRET: context.vault.open(application.sealedSecret, id),
    HOST: url.hostname,
    PORT: url.port,
    SCHEME: url.protocol.replace(":", ""),
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [`REVERB_${name}`, value],
      [`PUSHER_${name}`, value],
    ]),
  );
}

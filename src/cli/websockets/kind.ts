// The properties of WebSocket clusters, and of the applications in a cluster, for the commands that all kinds share.
import type { WebsocketApplicationDocument, WebSocketClusterDocument } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Kind, ShownKind } from "../shared/kind.ts";
import { addressIn, detailsText, tryText } from "./text.ts";

export const clusterKind: ShownKind<WebSocketClusterDocument> = {
  group: "websockets",
  noun: "WebSocket cluster",
  plural: "WebSocket clusters",
  idPattern: /^ws-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  include: ["applications"],
  showCommand: (id) => `pilvi websockets show ${id}`,
  waitAgain: (id) => `pilvi websockets show ${id} --wait`,
  requests: (client) => client.websockets,
  columns: ["NAME", "STATUS", "CONNECTIONS", "APPLICATIONS", "REGION", "ADDRESS", "ID"],
  cells(cluster) {
    const { name, status, region, max_connections: connections } = cluster.attributes;
    const count = cluster.relationships.applications.data.length;
    return [name, status, String(connections), String(count), region, addressIn(cluster), cluster.id];
  },
  details: detailsText,
  firstTry: tryText,
};

/** The applications in the cluster with this id; they have no status of their own. */
export function applicationKind(clusterId: string): Kind<WebsocketApplicationDocument> {
  return {
    noun: "WebSocket application",
    plural: "WebSocket applications",
    idPattern: /^wsa-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    include: ["server"],
    showCommand: (id) => `pilvi websockets apps show ${clusterId} ${id}`,
    requests(client) {
      const applications = client.websockets.applications(clusterId);
      return {
        pages: () => applications.pages(),
        async get(id, options = {}) {
          const { include = [] } = options;
          const document = await applications.get(id, { include });
          if (document.data.relationships.server.data?.id === clusterId) return document;
          // The path of an application does not name its cluster, but the command did.
          throw new CommandError(`There is no WebSocket application with the id ${id} in this cluster.`);
        },
        delete: (id) => applications.delete(id),
      };
    },
  };
}

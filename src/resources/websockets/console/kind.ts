// WebSocket clusters as the console knows them.
import { Radio } from "lucide-react";
import { client } from "../../../console/parts/client.ts";
import type { KindIdentity } from "../../../console/parts/kind.ts";
import type { WebsocketServerResource } from "../../../sdk/index.ts";

export const websocketKind: KindIdentity<WebsocketServerResource> = {
  name: "websockets",
  resourceType: "websocketServers",
  path: "/websockets",
  noun: "WebSocket cluster",
  plural: "WebSockets",
  icon: Radio,
  partNouns: { websocketApplications: "WebSocket application" },
  collection: client.websockets,
  summaryOf: ({ attributes: { max_connections: most, region } }) => `${most} connections · ${region}`,
};

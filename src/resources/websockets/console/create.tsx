// The page that creates a WebSocket cluster.
import { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import { ResourceCreatePage } from "../../../console/parts/resource-create.tsx";
import type { NewWebSocketCluster } from "../../../sdk/index.ts";
import { websocketKind } from "./kind.ts";

export default function WebsocketCreatePage() {
  return (
    <ResourceCreatePage
      kind={websocketKind}
      path="/websocket-servers"
      // The API checks the body; the form is made from its schema.
      create={(body) => client.websockets.create(body as NewWebSocketCluster)}
      commandOf={(body) =>
        commandText(["websockets", "create", body.name ?? "NAME"], {
          region: body.region,
          "max-connections": body.max_connections,
        })
      }
    />
  );
}

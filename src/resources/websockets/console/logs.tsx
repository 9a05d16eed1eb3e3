// The page of the log of a WebSocket cluster's server.
import { client } from "../../../console/parts/client.ts";
import type { LogSearch } from "../../../console/parts/logs/log-search.ts";
import { LogView } from "../../../console/parts/logs/log-view.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceFrame } from "../../../console/parts/resource-detail.tsx";
import { websocketKind } from "./kind.ts";

export default function WebsocketLogsPage({ params: { id = "" }, ...rest }: PageProps<LogSearch>) {
  return (
    <ResourceFrame kind={websocketKind} id={id}>
      {() => <LogView reader={client.websockets} id={id} isAsleep={false} {...rest} />}
    </ResourceFrame>
  );
}

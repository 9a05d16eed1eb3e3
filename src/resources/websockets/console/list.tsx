// The list of WebSocket clusters.
import type { ListSearch } from "../../../console/parts/list-search.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceListPage } from "../../../console/parts/resource-list.tsx";
import { websocketKind } from "./kind.ts";

export default function WebsocketListPage({ search, setSearch }: PageProps<ListSearch>) {
  return (
    <ResourceListPage
      kind={websocketKind}
      invitation="A WebSocket cluster speaks the Pusher Channels protocol, for your applications and their browsers."
      {...{ search, setSearch }}
    />
  );
}

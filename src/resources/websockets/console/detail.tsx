// The page of a WebSocket cluster, with its applications.
import { client } from "../../../console/parts/client.ts";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceChange } from "../../../console/parts/resource-change.tsx";
import { ResourceDetailPage } from "../../../console/parts/resource-detail.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Moment } from "../../../console/parts/time.tsx";
import type { WebSocketClusterChange, WebsocketServerResource } from "../../../sdk/index.ts";
import { useApplications } from "./application.tsx";
import { Applications } from "./applications.tsx";
import { websocketKind } from "./kind.ts";
import { WebsocketMetricsSection } from "./metrics.tsx";
import type { WebsocketSearch } from "./search.ts";

export default function WebsocketPage({ params, search, setSearch }: PageProps<WebsocketSearch>) {
  const applications = useApplications(params.id ?? "").data ?? [];
  return (
    <ResourceDetailPage
      kind={websocketKind}
      id={params.id ?? ""}
      remove={(id) => client.websockets.delete(id)}
    >
      {(cluster) => (
        <>
          <Applications key={cluster.id} {...{ cluster, search, setSearch }} />
          <ClusterFacts cluster={cluster} />
          <WebsocketMetricsSection id={cluster.id} {...{ applications, search, setSearch }} />
          <ClusterSettings cluster={cluster} />
        </>
      )}
    </ResourceDetailPage>
  );
}

function ClusterFacts({ cluster }: { cluster: WebsocketServerResource }) {
  const { attributes, meta } = cluster;
  return (
    <Section title="About">
      <Facts
        facts={[
          [
            "Clients connect to",
            <code key="url" className="font-mono text-xs">
              {meta.url}
            </code>,
          ],
          [
            "Servers publish at",
            <code key="http" className="font-mono text-xs">
              {meta.http_url}
            </code>,
          ],
          ["Connections", String(attributes.max_connections)],
          ["Region", attributes.region],
          [
            "Created",
            attributes.created_at === null ? "unknown" : <Moment key="created" at={attributes.created_at} />,
          ],
          [
            "Id",
            <code key="id" className="font-mono text-xs">
              {cluster.id}
            </code>,
          ],
        ]}
      />
    </Section>
  );
}

function ClusterSettings({ cluster }: { cluster: WebsocketServerResource }) {
  const canWrite = useCan("websockets:write");
  if (!canWrite || cluster.attributes.status === "deleting") return null;
  return (
    <ResourceChange
      kind={websocketKind}
      resource={cluster}
      path="/websocket-servers/{id}"
      change={(body) => client.websockets.update(cluster.id, body as WebSocketClusterChange)}
      valueOf={(name) => Object.entries(cluster.attributes).find(([member]) => member === name)?.[1]}
    />
  );
}

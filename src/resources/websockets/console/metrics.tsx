// The metrics of a WebSocket cluster, or of one of its applications, which the reader chooses.
import { MetricsSection } from "../../../console/parts/charts/metrics-section.tsx";
import { client } from "../../../console/parts/client.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import type { MetricPeriod, WebsocketApplicationResource } from "../../../sdk/index.ts";
import { websocketCharts } from "./charts.ts";
import type { WebsocketSearch } from "./search.ts";

/** The server of a cluster keeps no longer period. */
const PERIODS: readonly [MetricPeriod, ...MetricPeriod[]] = ["6h", "24h", "3d", "7d", "30d"];

export function WebsocketMetricsSection(
  props: { id: string; applications: readonly WebsocketApplicationResource[] } & Pick<
    PageProps<WebsocketSearch>,
    "search" | "setSearch"
  >,
) {
  const { id, applications, search, setSearch } = props;
  const chosen = applications.find((application) => application.id === search.application)?.id;
  return (
    <MetricsSection
      key={id}
      queryKey={["websockets", "metrics", chosen ?? id]}
      read={(period) =>
        chosen === undefined
          ? client.websockets.metrics(id, period)
          : client.websockets.applications(id).metrics(chosen, period)
      }
      charts={websocketCharts}
      periods={PERIODS}
      restWord="not running"
      {...{ search, setSearch }}
      actions={
        applications.length > 1 && (
          <select
            aria-label="Metrics of"
            className="input w-auto"
            value={chosen ?? ""}
            onChange={(event) => setSearch({ application: event.target.value || undefined })}
          >
            <option value="">The whole cluster</option>
            {applications.map(({ id: each, attributes: { name } }) => (
              <option key={each} value={each}>
                {name}
              </option>
            ))}
          </select>
        )
      }
    />
  );
}

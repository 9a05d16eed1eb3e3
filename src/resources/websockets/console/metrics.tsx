// The metrics of a WebSocket cluster, or of one of its applications, which the reader chooses.
import { MetricsSection } from "../../../console/parts/charts/metrics-section.tsx";
import { PERIODS } from "../../../console/parts/charts/period.ts";
import { client } from "../../../console/parts/client.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import type { WebsocketApplicationResource } from "../../../sdk/index.ts";
import { applicationCharts, websocketCharts } from "./charts.ts";
import type { WebsocketSearch } from "./search.ts";

type SectionProps = Pick<PageProps<WebsocketSearch>, "search" | "setSearch"> & {
  id: string;
  applications: readonly WebsocketApplicationResource[];
};

export function WebsocketMetricsSection(props: SectionProps) {
  const { id, applications, search, setSearch } = props;
  const chosen = applications.find((application) => application.id === search.application)?.id;
  const common = {
    periods: PERIODS,
    restWord: "not running",
    search,
    setSearch,
    actions: applications.length > 1 && <Applications {...props} chosen={chosen} />,
  };
  if (chosen === undefined)
    return (
      <MetricsSection
        key={id}
        queryKey={["websockets", "metrics", id]}
        read={(period) => client.websockets.metrics(id, period)}
        charts={websocketCharts}
        {...common}
      />
    );
  return (
    <MetricsSection
      key={chosen}
      queryKey={["websockets", "metrics", chosen]}
      read={(period) => client.websockets.applications(id).metrics(chosen, period)}
      charts={applicationCharts}
      {...common}
    />
  );
}

function Applications({ applications, chosen, setSearch }: SectionProps & { chosen: string | undefined }) {
  return (
    <select
      aria-label="Metrics of"
      className="input w-auto"
      value={chosen ?? ""}
      onChange={(event) => setSearch({ application: event.target.value || undefined })}
    >
      <option value="">The whole cluster</option>
      {applications.map(({ id, attributes: { name } }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

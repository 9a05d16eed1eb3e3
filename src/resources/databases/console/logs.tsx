// The page of the log of a database cluster's engine.
import { client } from "../../../console/parts/client.ts";
import type { LogSearch } from "../../../console/parts/logs/log-search.ts";
import { LogView } from "../../../console/parts/logs/log-view.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceFrame } from "../../../console/parts/resource-detail.tsx";
import { databaseKind } from "./kind.ts";

export default function DatabaseLogsPage({ params: { id = "" }, ...rest }: PageProps<LogSearch>) {
  return (
    <ResourceFrame kind={databaseKind} id={id}>
      {({ meta }) => (
        <LogView reader={client.databases} id={id} isAsleep={meta.sleep.state === "asleep"} {...rest} />
      )}
    </ResourceFrame>
  );
}

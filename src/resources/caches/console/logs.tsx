// The page of the log of a cache's engine.
import { client } from "../../../console/parts/client.ts";
import type { LogSearch } from "../../../console/parts/logs/log-search.ts";
import { LogView } from "../../../console/parts/logs/log-view.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceFrame } from "../../../console/parts/resource-detail.tsx";
import { cacheKind } from "./kind.ts";

export default function CacheLogsPage({ params: { id = "" }, ...rest }: PageProps<LogSearch>) {
  return (
    <ResourceFrame kind={cacheKind} id={id}>
      {({ meta }) => (
        <LogView reader={client.caches} id={id} isAsleep={meta.sleep.state === "asleep"} {...rest} />
      )}
    </ResourceFrame>
  );
}

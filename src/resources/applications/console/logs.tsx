// The page of the log of an environment: what its application writes.
import type { LogSearch } from "../../../console/parts/logs/log-search.ts";
import { LogView } from "../../../console/parts/logs/log-view.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { EnvironmentFrame } from "./environment-frame.tsx";
import { environmentsOf } from "./queries.ts";

export default function EnvironmentLogsPage({ params, ...rest }: PageProps<LogSearch>) {
  return (
    <EnvironmentFrame params={params}>
      {({ environment: { attributes }, ids }) => (
        <LogView
          reader={environmentsOf(ids.applicationId)}
          id={ids.environmentId}
          hasTypes
          isAsleep={attributes.status === "hibernating"}
          {...rest}
        />
      )}
    </EnvironmentFrame>
  );
}

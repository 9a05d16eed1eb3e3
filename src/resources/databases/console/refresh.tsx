// The refresh of a clone on its page: the button with its question, and how the latest refresh goes or why it failed.
import { client } from "../../../console/parts/client.ts";
import { ResourceAction } from "../../../console/parts/resource-detail.tsx";
import { useResource } from "../../../console/parts/resources.ts";
import { bytesText } from "../../../console/parts/sizes.ts";
import { Ago } from "../../../console/parts/time.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";

/** The bytes of a refresh are no events. */
const PROGRESS_MS = 1_000;

interface Props {
  cluster: DatabaseClusterResource;
}

/** The button of a clone. */
export function RefreshButton({ cluster }: Props) {
  const { name, status } = cluster.attributes;
  return (
    <ResourceAction
      kind={databaseKind}
      label="Refresh"
      isDisabled={status !== "available"}
      question={{
        title: `Refresh ${name}?`,
        text: "It gets the data of the cluster that it was cloned from again, as it is now, and all that was changed here is deleted. Its address and password stay. Connections end when the data changes.",
      }}
      act={() => client.databases.refresh(cluster.id)}
      done={`${name} is being refreshed.`}
    />
  );
}

/** Nothing for a cluster whose latest refresh has gone well. */
export function RefreshNotice({ cluster }: Props) {
  const { refresh } = cluster.meta;
  if (refresh?.status === "refreshing") return <Refreshing cluster={cluster} />;
  if (refresh?.status !== "failed") return null;
  return (
    <section aria-label="Refresh" className="mb-8 rounded-lg border border-bad bg-panel p-4">
      <p className="m-0 font-medium">The latest refresh failed, and this cluster has its former data.</p>
      <p className="mt-1 mb-0 max-w-prose text-soft">
        {refresh.last_error} {refresh.ended_at !== null && <Ago at={refresh.ended_at} />}
      </p>
    </section>
  );
}

function Refreshing({ cluster }: Props) {
  useResource(databaseKind, cluster.id, PROGRESS_MS);
  const { done_bytes: done = null, total_bytes: total = null } = cluster.meta.refresh ?? {};
  return (
    <section aria-label="Refresh" className="mb-8 rounded-lg border border-line bg-panel p-4">
      <p className="m-0">
        It is being refreshed, and serves its former data until the new data is whole.
        {done !== null && total !== null && ` ${bytesText(done)} of ${bytesText(total)}.`}
      </p>
    </section>
  );
}

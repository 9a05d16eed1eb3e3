// The list of applications: each with its environments, its address and its last deployment.
import type { ListSearch } from "../../../console/parts/list-search.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceListPage } from "../../../console/parts/resource-list.tsx";
import { StatusDot } from "../../../console/parts/status.tsx";
import { Ago } from "../../../console/parts/time.tsx";
import { Beginning } from "./beginning.tsx";
import { addressOf, deployedAt, stateOf } from "./environment-texts.ts";
import { applicationKind, type ConsoleApplication, defaultEnvironmentOf } from "./kind.ts";

/** As many as fit beside the address. */
const MAX_ENVIRONMENTS = 3;

export default function ApplicationListPage({ search, setSearch }: PageProps<ListSearch>) {
  return (
    <ResourceListPage
      kind={applicationKind}
      invitation="An application is a folder of code that Pilvi builds, starts and gives an address. It may sleep while nobody uses it."
      beginning={<Beginning />}
      line={(application) => <Line application={application} />}
      {...{ search, setSearch }}
    />
  );
}

function Line({ application }: { application: ConsoleApplication }) {
  const { environments } = application;
  const environment = defaultEnvironmentOf(application);
  const deployed = latestOf(environments.map(deployedAt));
  const rest = environments.length - MAX_ENVIRONMENTS;
  return (
    <>
      <span className="flex min-w-0 grow basis-0 items-center gap-3 overflow-hidden">
        {application.meta.status === "deleting" && <StatusDot status="deleting" label="deleting" />}
        {environments.slice(0, MAX_ENVIRONMENTS).map((each) => (
          <StatusDot key={each.id} status={stateOf(each)} label={each.attributes.name} />
        ))}
        {rest > 0 && <span className="shrink-0 text-sm text-soft">and {rest} more</span>}
      </span>
      <span className="hidden min-w-0 grow basis-0 truncate font-mono text-xs text-soft lg:block">
        {environment && addressOf(environment)}
      </span>
      <span className="hidden w-32 shrink-0 text-right text-sm text-soft sm:block">
        {deployed === undefined ? "not deployed yet" : <Ago at={deployed} />}
      </span>
    </>
  );
}

function latestOf(moments: readonly (string | undefined)[]): string | undefined {
  return moments
    .filter((moment) => moment !== undefined)
    .sort()
    .at(-1);
}

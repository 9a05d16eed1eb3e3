// The page of an environment: its address, what serves there, and its deployments.
import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { MetricsSection } from "../../../console/parts/charts/metrics-section.tsx";
import { type MetricsSearch, PERIODS } from "../../../console/parts/charts/period.ts";
import { CopyButton } from "../../../console/parts/copy.tsx";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { Ago, Moment } from "../../../console/parts/time.tsx";
import type { DeploymentResource, EnvironmentResource } from "../../../sdk/index.ts";
import { Beginning } from "./beginning.tsx";
import { environmentCharts } from "./charts.ts";
import { shortHash, titleOf } from "./deployment-texts.ts";
import { DeploymentsSection } from "./deployments-section.tsx";
import { EnvironmentActions } from "./environment-actions.tsx";
import { EnvironmentFrame } from "./environment-frame.tsx";
import { addressOf, urlOf } from "./environment-texts.ts";
import { HookAddress } from "./hook-address.tsx";
import { ProcessesSection } from "./processes-section.tsx";
import { type EnvironmentIds, environmentsOf, useDeployment } from "./queries.ts";

export default function EnvironmentPage({ params, search, setSearch }: PageProps<MetricsSearch>) {
  return (
    <EnvironmentFrame
      params={params}
      actions={(environment, ids) => <EnvironmentActions environment={environment} ids={ids} />}
    >
      {({ environment, application, ids }) => (
        <>
          <Address environment={environment} />
          {environment.relationships.currentDeployment.data === null && (
            <Beginning slug={application?.attributes.slug ?? "APPLICATION"} />
          )}
          <ProcessesSection environment={environment} ids={ids} />
          <DeploymentsSection environment={environment} ids={ids} />
          <MetricsSection
            key={environment.id}
            queryKey={["applications", "metrics", environment.id]}
            read={(period) => environmentsOf(ids.applicationId).metrics(environment.id, period)}
            charts={environmentCharts}
            periods={PERIODS}
            restWord={environment.attributes.uses_hibernation ? "asleep" : "not running"}
            {...{ search, setSearch }}
          />
          <EnvironmentFacts environment={environment} ids={ids} />
        </>
      )}
    </EnvironmentFrame>
  );
}

function Address({ environment }: { environment: EnvironmentResource }) {
  const url = urlOf(environment);
  return (
    <Section title="Address">
      <p className="m-0 flex min-w-0 items-center gap-1 text-base">
        <a
          href={url}
          target="_blank"
          rel="noreferrer"
          className="link inline-flex min-w-0 items-center gap-1.5"
        >
          <span className="min-w-0 font-mono break-all">{addressOf(environment)}</span>
          <ExternalLink size={14} aria-hidden className="shrink-0" />
          <span className="sr-only">opens in a new tab</span>
        </a>
        <CopyButton text={url} label="address" />
      </p>
    </Section>
  );
}

function EnvironmentFacts({ environment, ids }: { environment: EnvironmentResource; ids: EnvironmentIds }) {
  const { id, attributes, meta, relationships } = environment;
  const hook = meta.deploy_hook_url ?? null;
  const current = relationships.currentDeployment.data?.id;
  const { framework, node_version: node, php_major_version: php } = attributes;
  return (
    <Section title="About">
      <Facts
        facts={[
          [
            "Current release",
            current === undefined ? "none yet" : <Release key={current} ids={ids} id={current} />,
          ],
          ["Branch", relationships.branch.data?.id ?? "none"],
          ...(hook === null
            ? []
            : [["Deploy hook", <HookAddress key="hook" path={hook} />] satisfies [string, ReactNode]]),
          [
            "Framework",
            framework ?? (current === undefined ? "known after a deployment" : "none that is known"),
          ],
          ...(node === null ? [] : [["Node.js", node] satisfies [string, string]]),
          ...(php === null ? [] : [["PHP", php] satisfies [string, string]]),
          ["Sleep", attributes.uses_hibernation ? "when nobody uses it" : "never"],
          ["Created", attributes.created_at && <Moment key="created" at={attributes.created_at} />],
          [
            "Id",
            <code key="id" className="font-mono text-xs">
              {id}
            </code>,
          ],
        ]}
      />
    </Section>
  );
}

function Release({ ids, id }: { ids: EnvironmentIds; id: string }) {
  const { data } = useDeployment(ids, id);
  if (data === undefined) return "…";
  return (
    <>
      {titleOf(data)} <CommitHash deployment={data} />
      {data.attributes.finished_at && (
        <span className="block text-xs text-soft">
          <Ago at={data.attributes.finished_at} />
        </span>
      )}
    </>
  );
}

function CommitHash({ deployment: { attributes } }: { deployment: DeploymentResource }) {
  return (
    attributes.commit_hash && <code className="font-mono text-xs">{shortHash(attributes.commit_hash)}</code>
  );
}

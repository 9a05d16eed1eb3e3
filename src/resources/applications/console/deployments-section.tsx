// The deployments of an environment, the newest first.
import { Link } from "@tanstack/react-router";
import { Button } from "../../../console/parts/button.tsx";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { Status } from "../../../console/parts/status.tsx";
import { Ago } from "../../../console/parts/time.tsx";
import type { DeploymentResource, EnvironmentResource } from "../../../sdk/index.ts";
import { deploymentState, initiatorOf, shortHash, titleOf } from "./deployment-texts.ts";
import { type EnvironmentIds, pathOf, useDeployments, useMemberNames } from "./queries.ts";
import { RunLength } from "./run-length.tsx";

export function DeploymentsSection(props: { environment: EnvironmentResource; ids: EnvironmentIds }) {
  const { environment, ids } = props;
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useDeployments(ids);
  const members = useMemberNames();
  const deployments = data?.pages.flatMap((page) => page.data) ?? [];
  const total = data?.pages.at(-1)?.meta.total;
  return (
    <Section title={total === undefined ? "Deployments" : `Deployments · ${total}`}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {total === 0 && <p className="m-0 text-soft">Nothing was deployed here yet.</p>}
      <ol aria-label="Deployments" className="m-0 list-none p-0">
        {deployments.map((deployment) => (
          <li key={deployment.id} className="border-b border-line">
            <DeploymentLine
              to={`${pathOf(ids)}/deployments/${deployment.id}`}
              deployment={deployment}
              by={initiatorOf(deployment, members)}
              isCurrent={environment.relationships.currentDeployment.data?.id === deployment.id}
            />
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <div className="mt-3">
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Earlier deployments
          </Button>
        </div>
      )}
    </Section>
  );
}

function DeploymentLine(props: {
  to: string;
  deployment: DeploymentResource;
  by: string | undefined;
  isCurrent: boolean;
}) {
  const { to, deployment, by, isCurrent } = props;
  const { commit_hash: hash, commit_author: author, started_at: startedAt } = deployment.attributes;
  const who = [by, author].find((each) => each !== undefined && each !== null);
  return (
    <Link
      to={to}
      className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-1 py-1.5 text-ink no-underline hover:bg-hover sm:grid-cols-[7rem_minmax(0,1fr)_4.5rem_8rem]"
    >
      <Status status={deploymentState(deployment)} />
      <span className="order-first col-span-2 min-w-0 sm:order-none sm:col-span-1">
        <span className="block truncate font-medium">
          {titleOf(deployment)}
          {isCurrent && <span className="ml-2 text-xs font-normal text-accent">serves now</span>}
        </span>
        <span className="block truncate text-xs text-soft">
          {deployment.meta.release_of !== null && "an earlier release · "}
          {hash !== null && <code className="font-mono">{shortHash(hash)}</code>}
          {hash !== null && who !== undefined && " · "}
          {who}
        </span>
      </span>
      <span className="hidden text-right text-sm text-soft sm:block">
        <RunLength run={deployment} />
      </span>
      <span className="text-right text-sm text-soft">{startedAt ? <Ago at={startedAt} /> : "not begun"}</span>
    </Link>
  );
}

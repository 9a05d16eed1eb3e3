// The page of a deployment: followed live while it is under way, with its steps, its outcome, and what can be done next.
import type { ReactNode } from "react";
import { Empty, Facts, Failure, Loading, PageFrame, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";
import { Moment } from "../../../console/parts/time.tsx";
import { type DeploymentResource, PilviError } from "../../../sdk/index.ts";
import { DeploymentSteps } from "./deployment-steps.tsx";
import { deploymentState, initiatorOf, isOpen, titleOf } from "./deployment-texts.ts";
import { DeployButton } from "./environment-actions.tsx";
import { addressOf, urlOf } from "./environment-texts.ts";
import { FailureReason } from "./failure-reason.tsx";
import { type EnvironmentIds, pathOf, useDeployment, useEnvironment, useMemberNames } from "./queries.ts";
import { RunLength } from "./run-length.tsx";

export default function DeploymentPage({ params }: PageProps) {
  const { id: applicationId = "", environment: environmentId = "", deployment: id = "" } = params;
  const ids = { applicationId, environmentId };
  const environment = useEnvironment(ids).data?.environment;
  const { data: deployment, error, refetch } = useDeployment(ids, id);
  const back = { to: pathOf(ids), label: environment?.attributes.name ?? "Environment" };
  if (error instanceof PilviError && error.status === 404) {
    return (
      <PageFrame title="No such deployment" back={back}>
        <Empty title="This deployment is not there" text="It went with its environment, or never was." />
      </PageFrame>
    );
  }
  if (deployment === undefined) {
    return (
      <PageFrame title="…" back={back}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={8} />}
      </PageFrame>
    );
  }
  const isCurrent = environment?.relationships.currentDeployment.data?.id === id;
  return (
    <PageFrame
      title={titleOf(deployment)}
      back={back}
      beside={
        <span role="status">
          <Status status={deploymentState(deployment)} />
        </span>
      }
      actions={<Actions {...{ ids, deployment, isCurrent }} />}
    >
      <FailureReason text={deployment.attributes.failure_reason} />
      {isCurrent && environment && (
        <p className="mt-0 mb-5 rounded-md bg-tint px-3 py-2">
          This release serves{" "}
          <a href={urlOf(environment)} target="_blank" rel="noreferrer" className="link font-mono break-all">
            {addressOf(environment)}
          </a>
        </p>
      )}
      <DeploymentFacts deployment={deployment} />
      <DeploymentSteps key={id} ids={ids} id={id} isWatched={isOpen(deployment)} />
    </PageFrame>
  );
}

/** An earlier release starts again without a build, and so does not need its commit. */
function Actions(props: { ids: EnvironmentIds; deployment: DeploymentResource; isCurrent: boolean }) {
  const { ids, deployment, isCurrent } = props;
  const canWrite = useCan("applications:write");
  if (!canWrite || isOpen(deployment)) return null;
  const { commit_hash: hash } = deployment.attributes;
  const isRelease = deploymentState(deployment) === "succeeded" && !isCurrent;
  return (
    <>
      {hash !== null && <DeployButton ids={ids} label="Deploy again" order={{ commit_hash: hash }} />}
      {isRelease && (
        <DeployButton ids={ids} label="Roll back to this" order={{ release_of: deployment.id }} />
      )}
    </>
  );
}

function DeploymentFacts({ deployment }: { deployment: DeploymentResource }) {
  const members = useMemberNames();
  const { id, attributes, meta } = deployment;
  const { commit_hash: hash, commit_author: author, started_at: startedAt } = attributes;
  const facts: [string, ReactNode][] = [
    [
      "Commit",
      hash === null ? isOpen(deployment) ? "not known yet" : "none" : <Mono key="commit" text={hash} />,
    ],
    ["Branch", attributes.branch_name],
    ...(author === null ? [] : [["Author", author] satisfies [string, ReactNode]]),
    ["Begun by", initiatorOf(deployment, members) ?? "a token, a push or a hook"],
    ["Begun", startedAt === null ? "not yet" : <Moment key="begun" at={startedAt} />],
    ["Duration", startedAt === null ? "not begun" : <RunLength key="length" run={deployment} />],
    ...(meta.release_of === null
      ? []
      : [["Release of", <Mono key="release" text={meta.release_of} />] satisfies [string, ReactNode]]),
    ["Id", <Mono key="id" text={id} />],
  ];
  return (
    <Section title="About">
      <Facts facts={facts} />
    </Section>
  );
}

function Mono({ text }: { text: string }) {
  return <code className="font-mono text-xs break-all">{text}</code>;
}

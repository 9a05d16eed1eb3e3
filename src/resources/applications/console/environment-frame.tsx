// The frame of every page of an environment: its name, its state, and links to its other pages.
import type { ReactNode } from "react";
import { Empty, Failure, Loading, PageFrame } from "../../../console/parts/layout.tsx";
import { PageTabs } from "../../../console/parts/resource-tabs.tsx";
import { useAbilities, useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";
import { type EnvironmentResource, PilviError } from "../../../sdk/index.ts";
import { stateOf } from "./environment-texts.ts";
import { type EnvironmentIds, type EnvironmentParts, pathOf, useEnvironment } from "./queries.ts";

const VIEWS = [
  { path: "variables", label: "Variables", ability: "applications:credentials" },
  { path: "commands", label: "Commands", ability: "applications:read" },
  { path: "attachments", label: "Attachments", ability: "applications:read" },
  { path: "logs", label: "Logs", ability: "applications:credentials" },
  { path: "settings", label: "Settings", ability: "applications:write" },
];

interface FrameProps {
  /** The variable parts of the address. */
  params: Record<string, string>;
  /** Buttons beside the name, for sessions that may change the environment. */
  actions?: (environment: EnvironmentResource, ids: EnvironmentIds) => ReactNode;
  children: (parts: EnvironmentParts & { ids: EnvironmentIds }) => ReactNode;
}

export function EnvironmentFrame({ params, actions, children }: FrameProps) {
  const { id: applicationId = "", environment: environmentId = "" } = params;
  const ids = { applicationId, environmentId };
  const { data, error, refetch } = useEnvironment(ids);
  const canWrite = useCan("applications:write");
  const name = data?.application?.attributes.name ?? "Application";
  const back = { to: `/applications/${applicationId}`, label: name };
  if (error instanceof PilviError && error.status === 404) {
    return (
      <PageFrame title={data?.environment.attributes.name ?? "No such environment"} back={back}>
        <Empty
          title="This environment is not there"
          text="It was deleted, or belongs to another organization."
        />
      </PageFrame>
    );
  }
  if (data === undefined) {
    return (
      <PageFrame title="…" back={back}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={8} />}
      </PageFrame>
    );
  }
  const { environment } = data;
  const isKept = environment.attributes.status !== "deleting";
  return (
    <PageFrame
      title={environment.attributes.name}
      back={back}
      beside={<Status status={stateOf(environment)} />}
      actions={canWrite && isKept && actions?.(environment, ids)}
    >
      <EnvironmentTabs ids={ids} />
      <LastError environment={environment} />
      {children({ ...data, ids })}
    </PageFrame>
  );
}

function EnvironmentTabs({ ids }: { ids: EnvironmentIds }) {
  const can = useAbilities();
  const views = VIEWS.filter(({ ability }) => can(ability));
  return <PageTabs label="Pages of this environment" address={pathOf(ids)} views={views} />;
}

/** Why the latest change is not in force. */
function LastError({ environment: { meta } }: { environment: EnvironmentResource }) {
  if (meta.last_error === null) return null;
  return (
    <p
      role="alert"
      className="mt-0 mb-5 rounded-md border border-bad bg-bad-tint px-3 py-2 break-words whitespace-pre-wrap"
    >
      {meta.last_error}
    </p>
  );
}

// The environments of an application: state, address and last deployment of each.
import { Link } from "@tanstack/react-router";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { CopyButton } from "../../../console/parts/copy.tsx";
import { Section } from "../../../console/parts/layout.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";
import { Ago } from "../../../console/parts/time.tsx";
import type { EnvironmentResource } from "../../../sdk/index.ts";
import { addressOf, deployedAt, stateOf, urlOf } from "./environment-texts.ts";
import type { ConsoleApplication } from "./kind.ts";
import { pathOf } from "./queries.ts";

export function EnvironmentsSection({ application }: { application: ConsoleApplication }) {
  const { id, environments, meta, relationships } = application;
  const canWrite = useCan("applications:write") && meta.status !== "deleting";
  return (
    <Section
      title="Environments"
      note="Each environment has an address, a branch, settings, variables and releases of its own."
      actions={
        canWrite && <ButtonLink to={`/applications/${id}/environments/new`}>Create environment</ButtonLink>
      }
    >
      {environments.length === 0 && <p className="m-0 text-soft">There are no environments in it.</p>}
      <ul aria-label="Environments" className="m-0 list-none p-0">
        {environments.map((environment) => (
          <EnvironmentLine
            key={environment.id}
            applicationId={id}
            environment={environment}
            isDefault={
              environments.length > 1 && environment.id === relationships.defaultEnvironment.data?.id
            }
          />
        ))}
      </ul>
    </Section>
  );
}

function EnvironmentLine(props: {
  applicationId: string;
  environment: EnvironmentResource;
  isDefault: boolean;
}) {
  const { applicationId, environment, isDefault } = props;
  const { id, attributes } = environment;
  const deployed = deployedAt(environment);
  return (
    <li className="grid min-h-11 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 border-b border-line py-1 sm:grid-cols-[minmax(0,1fr)_7rem_minmax(0,1.6fr)_8rem]">
      <span className="min-w-0">
        <Link to={pathOf({ applicationId, environmentId: id })} className="link font-medium break-all">
          {attributes.name}
        </Link>
        {isDefault && <span className="ml-2 text-xs text-soft">default</span>}
      </span>
      <Status status={stateOf(environment)} />
      <span className="col-span-2 flex min-w-0 items-center sm:col-span-1">
        <a
          href={urlOf(environment)}
          target="_blank"
          rel="noreferrer"
          className="min-w-0 truncate font-mono text-xs text-soft hover:text-ink"
        >
          {addressOf(environment)}
        </a>
        <CopyButton text={urlOf(environment)} label={`address of ${attributes.name}`} />
      </span>
      <span className="hidden text-right text-sm text-soft sm:block">
        {deployed === undefined ? "not deployed yet" : <Ago at={deployed} />}
      </span>
    </li>
  );
}

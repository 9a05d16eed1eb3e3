// The page of an application: its environments, its settings, and its deletion.
import type { ReactNode } from "react";
import { client } from "../../../console/parts/client.ts";
import type { Field } from "../../../console/parts/form-fields.ts";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceChange } from "../../../console/parts/resource-change.tsx";
import { ResourceDetailPage } from "../../../console/parts/resource-detail.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Moment } from "../../../console/parts/time.tsx";
import type { ApplicationChange } from "../../../sdk/index.ts";
import { Beginning } from "./beginning.tsx";
import { DeployKey } from "./deploy-key.tsx";
import { EnvironmentsSection } from "./environments-section.tsx";
import { applicationKind, type ConsoleApplication } from "./kind.ts";

export default function ApplicationPage({ params: { id = "" } }: PageProps) {
  return (
    <ResourceDetailPage kind={applicationKind} id={id} remove={(each) => client.applications.delete(each)}>
      {(application) => (
        <>
          <EnvironmentsSection application={application} />
          {wasNeverDeployed(application) && <Beginning slug={application.attributes.slug} />}
          <ApplicationFacts application={application} />
          <ApplicationSettings application={application} />
        </>
      )}
    </ResourceDetailPage>
  );
}

function wasNeverDeployed({ environments }: ConsoleApplication): boolean {
  return environments.every(({ relationships }) => relationships.currentDeployment.data === null);
}

function ApplicationFacts({ application }: { application: ConsoleApplication }) {
  const { id, attributes, meta } = application;
  return (
    <Section title="About">
      <Facts
        facts={[
          ["Region", attributes.region],
          ["Repository", meta.repository_url ?? "pushed or uploaded"],
          ...loginFact(meta.repository_username),
          ...deployKeyFact(application),
          ["Root directory", meta.root_directory ?? "the whole source"],
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

function loginFact(user: string | null): [string, ReactNode][] {
  return user === null ? [] : [["Fetched as", user]];
}

function deployKeyFact(application: ConsoleApplication): [string, ReactNode][] {
  if (application.meta.deploy_key === null) return [];
  return [["Deploy key", <DeployKey key="deploy-key" application={application} />]];
}

function ApplicationSettings({ application }: { application: ConsoleApplication }) {
  const canWrite = useCan("applications:write");
  const { id, attributes, environments, meta, relationships } = application;
  if (!canWrite || meta.status === "deleting") return null;
  const present: Record<string, unknown> = {
    ...attributes,
    repository: meta.repository_url,
    repository_username: meta.repository_username,
    root_directory: meta.root_directory,
    default_environment_id: relationships.defaultEnvironment.data?.id,
  };
  const labels = Object.fromEntries(environments.map(({ id: own, attributes: { name } }) => [own, name]));
  return (
    <ResourceChange
      kind={applicationKind}
      resource={application}
      path="/applications/{id}"
      change={async (body) => {
        await client.applications.update(id, body as ApplicationChange);
        return await applicationKind.collection.get(id);
      }}
      valueOf={(name) => present[name]}
      adapt={(field) => withEnvironments(field, Object.keys(labels))}
      labels={{ default_environment_id: labels }}
    />
  );
}

/** The default environment is one of the application's. */
function withEnvironments(field: Field, ids: string[]): Field {
  if (field.name !== "default_environment_id") return field;
  return { ...field, label: "Default environment", control: "select", options: ids, isRequired: true };
}

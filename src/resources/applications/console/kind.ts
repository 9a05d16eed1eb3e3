// Applications as the console knows them: each with its environments, since those have the states and the addresses.
import { Rocket } from "lucide-react";
import { client } from "../../../console/parts/client.ts";
import type { KindIdentity } from "../../../console/parts/kind.ts";
import type { ApplicationResource, EnvironmentResource } from "../../../sdk/index.ts";
import { addressOf, stateOf } from "./environment-texts.ts";

/** An application with its environments, and with the state of its default environment as its own. */
export interface ConsoleApplication extends Omit<ApplicationResource, "attributes" | "meta"> {
  attributes: ApplicationResource["attributes"] & { status: string; type: string };
  environments: EnvironmentResource[];
  meta: ApplicationResource["meta"] & { last_error?: string | null };
}

/** What is read along with each application. */
const INCLUDE = ["environments"];

export const applicationKind: KindIdentity<ConsoleApplication> = {
  name: "applications",
  resourceType: "applications",
  path: "/applications",
  noun: "application",
  plural: "Applications",
  icon: Rocket,
  partNouns: { environments: "environment", deployments: "deployment", commands: "command" },
  partTypes: ["environments", "deployments", "commands"],
  hasLog: false,
  collection: {
    async *pages() {
      for await (const { data, included = [], meta } of client.applications.pages({ include: INCLUDE }))
        yield { data: data.map((application) => withEnvironments(application, included)), meta };
    },
    async get(id, options = {}) {
      const { data, included = [] } = await client.applications.get(id, { ...options, include: INCLUDE });
      return { data: withEnvironments(data, included) };
    },
  },
  summaryOf: (application) => {
    const environment = defaultEnvironmentOf(application);
    return environment === undefined
      ? application.attributes.region
      : `${addressOf(environment)} · ${application.attributes.region}`;
  },
};

/** The environment that commands take when none is named. */
export function defaultEnvironmentOf({
  environments,
  relationships,
}: Pick<ConsoleApplication, "environments" | "relationships">): EnvironmentResource | undefined {
  const id = relationships.defaultEnvironment.data?.id;
  return environments.find((environment) => environment.id === id) ?? environments[0];
}

/** @param included the environments of several applications. */
function withEnvironments(
  application: ApplicationResource,
  included: readonly EnvironmentResource[],
): ConsoleApplication {
  const environments = included.filter(
    ({ relationships }) => relationships.application.data.id === application.id,
  );
  const environment = defaultEnvironmentOf({ ...application, environments });
  const isKept = application.meta.status === "available" && environment !== undefined;
  const status = isKept ? stateOf(environment) : application.meta.status;
  return {
    ...application,
    attributes: { ...application.attributes, status, type: "application" },
    environments,
  };
}

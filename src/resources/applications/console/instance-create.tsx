// The page that adds an instance to an environment, which runs background processes with a size of their own.
import type { PageProps } from "../../../console/parts/page.tsx";
import type { NewInstance } from "../../../sdk/index.ts";
import { EnvironmentForm } from "./environment-form.tsx";
import { environmentsOf } from "./queries.ts";

/** An instance has one replica at first; the buttons of its line change that. */
const REPLICAS = { members: { scaling_type: "none" }, fields: () => null };

export default function InstanceCreatePage({ params }: PageProps) {
  const { id: applicationId = "", environment: environmentId = "" } = params;
  const instances = environmentsOf(applicationId).instances(environmentId);
  return (
    <EnvironmentForm
      ids={{ applicationId, environmentId }}
      path="/environments/{id}/instances"
      id={environmentId}
      noun="instance"
      firstType="service"
      hidden={["scaling_type", "min_replicas", "max_replicas", "uses_scheduler"]}
      more={REPLICAS}
      // The API checks the body; the form is made from its schema.
      create={(body) => instances.create(body as NewInstance)}
      // The command line changes instances alone.
      commandOf={() => undefined}
    />
  );
}

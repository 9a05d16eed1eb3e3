// The page that adds a background process to an instance of an environment.
import type { PageProps } from "../../../console/parts/page.tsx";
import type { NewBackgroundProcess } from "../../../sdk/index.ts";
import { EnvironmentForm } from "./environment-form.tsx";
import type { ProcessSearch } from "./process-search.ts";
import { environmentsOf } from "./queries.ts";

export default function ProcessCreatePage({ params, search }: PageProps<ProcessSearch>) {
  const { id: applicationId = "", environment: environmentId = "" } = params;
  const { instance = "" } = search;
  const processes = environmentsOf(applicationId).instances(environmentId).backgroundProcesses(instance);
  return (
    <EnvironmentForm
      ids={{ applicationId, environmentId }}
      path="/instances/{id}/background-processes"
      id={instance}
      noun="background process"
      firstType="custom"
      initial={{ processes: 1 }}
      labels={{ type: { custom: "A command", worker: "The queue worker of the framework" } }}
      // The API checks the body; the form is made from its schema.
      create={(body) => processes.create(body as NewBackgroundProcess)}
      // The command line has the number of processes alone.
      commandOf={() => undefined}
    />
  );
}

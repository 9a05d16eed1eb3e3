// The page that creates an environment in an application.
import type { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { PartCreatePage } from "../../../console/parts/part-create.tsx";
import { applicationKind } from "./kind.ts";
import { environmentsOf } from "./queries.ts";

type NewEnvironment = Parameters<ReturnType<typeof client.applications.environments>["create"]>[0];

export default function EnvironmentCreatePage({ params: { id = "" } }: PageProps) {
  return (
    <PartCreatePage
      kind={applicationKind}
      id={id}
      noun="environment"
      path="/applications/{id}/environments"
      queryKey={["applications"]}
      // The API checks the body; the form is made from its schema.
      create={(body) => environmentsOf(id).create(body as NewEnvironment)}
      // Several applications may have the same name.
      commandOf={({ name = "NAME", branch }) =>
        commandText(["environments", "create", name], { app: id, branch })
      }
    />
  );
}

// The page that creates an application.
import { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import { ResourceCreatePage } from "../../../console/parts/resource-create.tsx";
import type { NewApplication } from "../../../sdk/index.ts";
import { applicationKind } from "./kind.ts";

export default function ApplicationCreatePage() {
  return (
    <ResourceCreatePage
      kind={applicationKind}
      path="/applications"
      // The API checks the body; the form is made from its schema.
      create={async (body) => {
        const { data } = await client.applications.create(body as NewApplication);
        return await applicationKind.collection.get(data.id);
      }}
      commandOf={commandOf}
      hidden={["cluster_id"]}
    />
  );
}

/** The command links the folder that it runs in; a repository elsewhere needs no folder. */
function commandOf({ name = "NAME", ...rest }: Record<string, unknown>): string | undefined {
  const { repository, root_directory: root, region } = rest;
  return repository === undefined && root === undefined ? commandText(["init", name], { region }) : undefined;
}

// The page that creates a database in a cluster.
import { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { PartCreatePage } from "../../../console/parts/part-create.tsx";
import { databasesKey } from "./databases.tsx";
import { databaseKind } from "./kind.ts";

type NewDatabase = Parameters<ReturnType<typeof client.databases.schemas>["create"]>[0];

export default function DatabaseCreatePage({ params: { id = "" } }: PageProps) {
  return (
    <PartCreatePage
      kind={databaseKind}
      id={id}
      noun="database"
      path="/databases/clusters/{id}/databases"
      queryKey={databasesKey(id)}
      // The API checks the body; the form is made from its schema.
      create={(body) => client.databases.schemas(id).create(body as NewDatabase)}
      // Several clusters may have the same name.
      commandOf={({ name = "NAME" }) => commandText(["databases", "schemas", "create", id, name], {})}
    />
  );
}

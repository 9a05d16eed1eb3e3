// The page that creates a database cluster.
import { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import { ResourceCreatePage } from "../../../console/parts/resource-create.tsx";
import type { NewDatabaseCluster } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";

export default function DatabaseCreatePage() {
  return (
    <ResourceCreatePage
      kind={databaseKind}
      path="/databases/clusters"
      // The API checks the body; the form is made from its schema.
      create={(body) => client.databases.create(body as NewDatabaseCluster)}
      commandOf={commandOf}
      firstType="hosted_serverless_postgres"
      hidden={["cluster_id"]}
    />
  );
}

function commandOf(body: Record<string, unknown>): string {
  const config = Object.entries(body.config ?? {}).map(([name, value]) => `${name}=${String(value)}`);
  return commandText(["databases", "create", body.name ?? "NAME"], {
    type: body.type,
    version: body.version,
    region: body.region,
    "no-default-database": body.create_default_database === false,
    config,
  });
}

// The settings of a database cluster: the members of its config, as its type has them.
import { useQuery } from "@tanstack/react-query";
import { client } from "../../../console/parts/client.ts";
import type { Field } from "../../../console/parts/form-fields.ts";
import { ResourceChange } from "../../../console/parts/resource-change.tsx";
import { useCan } from "../../../console/parts/session.ts";
import type { DatabaseClusterResource, DatabaseTypeList } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";

type Member = DatabaseTypeList["data"][number]["config_schema"][number];

export function DatabaseSettings({ cluster }: { cluster: DatabaseClusterResource }) {
  const canWrite = useCan("databases:write");
  const types = useQuery({
    queryKey: ["databases", "types"],
    queryFn: () => client.databases.types(),
    staleTime: Infinity,
  });
  const type = types.data?.data.find((each) => each.type === cluster.attributes.type);
  if (!canWrite || type === undefined || cluster.attributes.status === "deleting") return null;
  const values = new Map<string, unknown>(
    Object.entries(cluster.attributes.config).map(([name, value]) => [`config.${name}`, value]),
  );
  return (
    <ResourceChange
      kind={databaseKind}
      resource={cluster}
      path="/databases/clusters/{id}"
      change={(body) =>
        client.databases.update(cluster.id, { config: { ...(body.config as Record<string, unknown>) } })
      }
      valueOf={(name) => values.get(name)}
      fields={type.config_schema.map(fieldOf)}
    />
  );
}

function fieldOf({ name, type, description, min, max, enum: options = [] }: Member): Field {
  const words = name
    .replaceAll("_", " ")
    .replace(/^(is|uses) /, "")
    .replace(/^cu /, "CU ");
  const plain = type === "boolean" ? "check" : type === "string" ? "text" : "number";
  return {
    name: `config.${name}`,
    label: words.charAt(0).toUpperCase() + words.slice(1),
    note: description,
    control: options.length > 0 ? "select" : plain,
    options,
    preset: undefined,
    isRequired: true,
    min,
    max,
  };
}

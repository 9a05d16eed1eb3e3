// The databases in a cluster.
import { useQuery } from "@tanstack/react-query";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { client } from "../../../console/parts/client.ts";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { AddPart, RemoveButton } from "../../../console/parts/part-list.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";

/** The type of its events keeps the list up to date. */
function keyOf(id: string) {
  return ["databases", "databaseSchemas", id];
}

export function useDatabases(id: string) {
  return useQuery({
    queryKey: keyOf(id),
    queryFn: () => Array.fromAsync(client.databases.schemas(id).all()),
  });
}

export function DatabaseSection({ id }: { id: string }) {
  const { data, error, refetch } = useDatabases(id);
  const canWrite = useCan("databases:write");
  const canQuery = useCan("databases:credentials");
  const hasAny = data !== undefined && data.length > 0;
  const query = canQuery && hasAny && <ButtonLink to={`/databases/${id}/query`}>Query</ButtonLink>;
  return (
    <Section title="Databases" actions={query}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={2} />}
      <ul className="m-0 list-none p-0">
        {data?.map((database) => (
          <li key={database.id} className="flex items-center gap-4 border-b border-line py-1">
            <span className="grow font-medium">{database.attributes.name}</span>
            <Status status={database.attributes.status} />
            {canWrite && (
              <RemoveButton
                label={database.attributes.name}
                verb="Delete"
                question="All tables and rows in it are lost."
                name={database.attributes.name}
                queryKey={keyOf(id)}
                remove={() => client.databases.schemas(id).delete(database.id)}
              />
            )}
          </li>
        ))}
      </ul>
      {canWrite && (
        <AddPart
          noun="database"
          queryKey={keyOf(id)}
          add={(name) => client.databases.schemas(id).create({ name })}
        />
      )}
    </Section>
  );
}

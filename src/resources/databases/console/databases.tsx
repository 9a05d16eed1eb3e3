// The databases in a cluster.
import { useQuery } from "@tanstack/react-query";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { client } from "../../../console/parts/client.ts";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { RemoveButton } from "../../../console/parts/remove-button.tsx";
import { countText, ListCount, ListFilters, NothingFits } from "../../../console/parts/list-filters.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Status } from "../../../console/parts/status.tsx";
import { Ago } from "../../../console/parts/time.tsx";
import type { DatabaseDocument } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";
import type { DatabaseSearch } from "./search.ts";

type DatabaseResource = DatabaseDocument["data"];

/** The type of its events keeps the list up to date. */
export function databasesKey(id: string): string[] {
  return ["databases", "databaseSchemas", id];
}

export function useDatabases(id: string) {
  return useQuery({
    queryKey: databasesKey(id),
    queryFn: () => Array.fromAsync(client.databases.schemas(id).all()),
  });
}

type SectionProps = { id: string } & Pick<PageProps<DatabaseSearch>, "search" | "setSearch">;

export function DatabaseSection({ id, search, setSearch }: SectionProps) {
  const { data, error, refetch } = useDatabases(id);
  const canWrite = useCan("databases:write");
  const canQuery = useCan("databases:credentials");
  const path = `${databaseKind.path}/${id}`;
  const hasAny = data !== undefined && data.length > 0;
  return (
    <Section
      title="Databases"
      actions={
        <>
          {canQuery && hasAny && <ButtonLink to={`${path}/query`}>Query</ButtonLink>}
          {canWrite && data && <ButtonLink to={`${path}/databases/new`}>Create database</ButtonLink>}
        </>
      }
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={2} />}
      {data?.length === 0 && <p className="m-0 text-soft">There are no databases in it.</p>}
      {hasAny && <Databases {...{ id, search, setSearch }} databases={data} />}
    </Section>
  );
}

function Databases(props: SectionProps & { databases: readonly DatabaseResource[] }) {
  const { id, search, setSearch, databases } = props;
  const { q, status } = search;
  const text = q?.toLowerCase();
  const shown = databases.filter(
    ({ id: own, attributes }) =>
      (text === undefined || attributes.name.includes(text) || own === text) &&
      (status === undefined || attributes.status === status),
  );
  const statuses = databases.map(({ attributes }) => attributes.status);
  const isSearched = databases.length > 1 || q !== undefined || status !== undefined;
  return (
    <>
      {isSearched && (
        <>
          <ListFilters
            label="Search by name or id"
            {...{ search, setSearch }}
            filters={[{ name: "status", values: statuses, chosen: status }]}
          />
          <ListCount text={countText(shown.length, databases.length)} />
        </>
      )}
      {shown.length === 0 && <NothingFits />}
      <ul aria-label="Databases" className="m-0 list-none p-0">
        {shown.map((database) => (
          <DatabaseLine key={database.id} clusterId={id} database={database} />
        ))}
      </ul>
    </>
  );
}

function DatabaseLine({ clusterId, database }: { clusterId: string; database: DatabaseResource }) {
  const canWrite = useCan("databases:write");
  const { name, status, created_at: createdAt } = database.attributes;
  return (
    <li className="flex min-h-10 items-center gap-4 border-b border-line py-1">
      <span className="min-w-0 grow font-medium break-all">{name}</span>
      <Status status={status} />
      <span className="hidden w-28 text-right text-sm text-soft sm:block">
        {createdAt && <Ago at={createdAt} />}
      </span>
      {canWrite && (
        <RemoveButton
          label={name}
          verb="Delete"
          question="All tables and rows in it are lost."
          name={name}
          queryKey={databasesKey(clusterId)}
          remove={() => client.databases.schemas(clusterId).delete(database.id)}
        />
      )}
    </li>
  );
}

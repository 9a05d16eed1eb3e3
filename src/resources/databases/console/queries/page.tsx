// The page of what runs in a database cluster, and of its slow statements.
import { client } from "../../../../console/parts/client.ts";
import { Loading, PageFrame } from "../../../../console/parts/layout.tsx";
import type { PageProps } from "../../../../console/parts/page.tsx";
import { useResource } from "../../../../console/parts/resources.ts";
import { databaseKind } from "../kind.ts";
import { RunningQueries } from "./running.tsx";
import type { QueriesSearch } from "./search.ts";
import { SlowStatements } from "./statements.tsx";

export default function QueriesPage({ params, search, setSearch }: PageProps<QueriesSearch>) {
  const id = params.id ?? "";
  const { data: cluster } = useResource(databaseKind, id);
  const hasStatements = cluster?.attributes.connection.driver === "pgsql";
  return (
    <PageFrame
      title="Queries"
      back={{ to: `${databaseKind.path}/${id}`, label: cluster?.attributes.name ?? "Database cluster" }}
    >
      <RunningQueries
        id={id}
        withIdle={search.idle === "true"}
        onIdle={(withIdle) => setSearch({ idle: withIdle ? "true" : undefined })}
      />
      {cluster === undefined && <Loading />}
      {cluster && !hasStatements && (
        <p className="max-w-prose text-sm text-soft">
          A MySQL cluster keeps no figures of its statements: they would take memory of every cluster all the
          time.
        </p>
      )}
      {hasStatements && (
        <SlowStatements
          id={id}
          sort={search.sort ?? "total_time"}
          onSort={(sort) => setSearch({ sort: sort === "total_time" ? undefined : sort })}
          reset={() => client.databases.resetStatements(id)}
        />
      )}
    </PageFrame>
  );
}

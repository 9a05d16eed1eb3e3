// The list of database clusters.
import { DeletedList } from "../../../console/parts/backups/deleted-list.tsx";
import type { ListSearch } from "../../../console/parts/list-search.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceListPage } from "../../../console/parts/resource-list.tsx";
import { databaseBackups } from "./backup-kind.ts";
import { databaseKind } from "./kind.ts";

export default function DatabaseListPage({ search, setSearch }: PageProps<ListSearch>) {
  return (
    <ResourceListPage
      kind={databaseKind}
      invitation="A database cluster is a Postgres or MySQL of your own. It may sleep while nobody uses it, and wakes for the next client."
      {...{ search, setSearch }}
    >
      <DeletedList backups={databaseBackups} />
    </ResourceListPage>
  );
}

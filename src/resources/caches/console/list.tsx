// The list of caches.
import { DeletedList } from "../../../console/parts/backups/deleted-list.tsx";
import type { ListSearch } from "../../../console/parts/list-search.ts";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceListPage } from "../../../console/parts/resource-list.tsx";
import { cacheBackups } from "./backup-kind.ts";
import { cacheKind } from "./kind.ts";

export default function CacheListPage({ search, setSearch }: PageProps<ListSearch>) {
  return (
    <ResourceListPage
      kind={cacheKind}
      invitation="A cache is a Valkey or Redis of your own. It is there in a moment, and may sleep while nobody uses it."
      {...{ search, setSearch }}
    >
      <DeletedList backups={cacheBackups} />
    </ResourceListPage>
  );
}

// The page of the backups of a cache.
import { BackupsPage } from "../../../console/parts/backups/backups-page.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { cacheBackups } from "./backup-kind.ts";

export default function CacheBackupsPage({ params: { id = "" } }: PageProps) {
  return <BackupsPage backups={cacheBackups} id={id} />;
}

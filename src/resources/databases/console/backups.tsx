// The page of the backups of a database cluster.
import { BackupsPage } from "../../../console/parts/backups/backups-page.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { databaseBackups } from "./backup-kind.ts";

export default function DatabaseBackupsPage({ params: { id = "" } }: PageProps) {
  return <BackupsPage backups={databaseBackups} id={id} />;
}

// Database clusters as the console knows them.
import { Database } from "lucide-react";
import { client } from "../../../console/parts/client.ts";
import type { KindIdentity } from "../../../console/parts/kind.ts";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";

export const databaseKind: KindIdentity<DatabaseClusterResource> = {
  name: "databases",
  resourceType: "databases",
  path: "/databases",
  noun: "database cluster",
  plural: "Databases",
  icon: Database,
  partNouns: { databaseSchemas: "database", database_snapshots: "database snapshot" },
  collection: client.databases,
  views: [{ path: "backups", label: "Backups", isForAll: true }],
  summaryOf: ({ attributes: { type, region }, meta: { engine } }) =>
    `${engine === null ? type : `${engine.name} ${engine.version}`} · ${region}`,
};

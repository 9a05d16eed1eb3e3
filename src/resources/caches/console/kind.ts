// Caches as the console knows them.
import { Zap } from "lucide-react";
import { client } from "../../../console/parts/client.ts";
import type { KindIdentity } from "../../../console/parts/kind.ts";
import type { CacheResource } from "../../../sdk/index.ts";

export const cacheKind: KindIdentity<CacheResource> = {
  name: "caches",
  resourceType: "caches",
  path: "/caches",
  noun: "cache",
  plural: "Caches",
  icon: Zap,
  partNouns: { cache_snapshots: "cache snapshot" },
  collection: client.caches,
  views: [
    { path: "keys", label: "Keys" },
    { path: "backups", label: "Backups", isForAll: true },
  ],
  summaryOf: ({ attributes: { type, size, region }, meta: { engine } }) =>
    `${engine === null ? type : `${engine.name} ${engine.version}`} · ${size} · ${region}`,
};

// The order of a cache, as its archive keeps it.
import type { ArchiveSource } from "../../shared/backups/archives.ts";
import type { CacheRow, CacheSettings } from "../store.ts";

/** The order. */
export interface CacheSource extends ArchiveSource, CacheSettings {
  type: CacheRow["type"];
}

/** The order of a cache. */
export function sourceOf(cache: CacheRow): CacheSource {
  const { name, type, region, size, autoUpgradeEnabled, isPublic } = cache;
  const { evictionPolicy, usesHibernation, hibernationTimeout } = cache;
  return {
    name,
    type,
    region,
    size,
    autoUpgradeEnabled,
    isPublic,
    evictionPolicy,
    usesHibernation,
    hibernationTimeout,
  };
}

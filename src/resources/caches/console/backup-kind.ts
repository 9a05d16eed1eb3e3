// The backups of caches as the console knows them.
import type { BackupKind } from "../../../console/parts/backups/backup-kind.ts";
import { client } from "../../../console/parts/client.ts";
import type { CacheResource } from "../../../sdk/index.ts";
import { cacheKind } from "./kind.ts";

export const cacheBackups: BackupKind<CacheResource> = {
  kind: cacheKind,
  snapshotType: "cache_snapshots",
  partType: null,
  command: "caches",
  scheduleOf: () => null,
  untilDeleted: async (id) => await client.caches.untilDeleted(id),
  readBackups: async (id) => (await client.caches.backups(id)).data,
  listSnapshots: (id) => client.caches.snapshots.all(id),
  createSnapshot: (id, body) => client.caches.snapshots.create(id, body),
  deleteSnapshot: (id) => client.caches.snapshots.delete(id),
  restore: (id, name, target) => {
    if ("at" in target) throw new Error("no instant of a cache is kept");
    return client.caches.restore(id, { name, cache_snapshot_id: target.snapshot });
  },
  clone: (id, name) => client.caches.clone(id, { name }),
  remove: (id) => client.caches.delete(id),
  purge: (id) => client.caches.purge(id),
};

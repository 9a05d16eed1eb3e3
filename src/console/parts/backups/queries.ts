// What the pages of backups read, and how it stays up to date.
import { useQuery } from "@tanstack/react-query";
import { client } from "../client.ts";
import { ARCHIVES_KEY } from "../live.ts";
import type { BackedUpResource, BackupKind } from "./backup-kind.ts";

/** The log of an engine is shipped every second, which is no event. */
const WINDOW_MS = 5_000;
/** A snapshot that is being made has no event for each of its steps. */
const MAKING_MS = 1_500;
/** The end of a retention is no event. */
const ARCHIVES_MS = 30_000;

/** The key of the snapshots of an instance; their type in it has their events read them again. */
export function snapshotsKey<Resource extends BackedUpResource>(
  { kind, snapshotType }: BackupKind<Resource>,
  id: string,
): readonly string[] {
  return [kind.name, snapshotType, id];
}

/** The snapshots of an instance, the newest first. */
export function useSnapshots<Resource extends BackedUpResource>(backups: BackupKind<Resource>, id: string) {
  return useQuery({
    queryKey: snapshotsKey(backups, id),
    queryFn: async () => (await Array.fromAsync(backups.listSnapshots(id))).toReversed(),
    refetchInterval: ({ state: { data = [] } }) => data.some(isUnderWay) && MAKING_MS,
  });
}

function isUnderWay({ attributes: { status } }: { attributes: { status: string } }): boolean {
  return status === "pending" || status === "creating" || status === "deleting";
}

/** What of an instance can be restored. */
export function useBackups<Resource extends BackedUpResource>(
  { kind, readBackups }: BackupKind<Resource>,
  id: string,
) {
  return useQuery({
    queryKey: [kind.name, "backups", id],
    queryFn: async () => await readBackups(id),
    refetchInterval: WINDOW_MS,
  });
}

/** The deleted instances of a kind of which anything is kept. */
export function useDeleted<Resource extends BackedUpResource>({ kind }: BackupKind<Resource>) {
  const { data = [] } = useQuery({
    queryKey: ARCHIVES_KEY,
    queryFn: async () => await Array.fromAsync(client.backups.all()),
    refetchInterval: ARCHIVES_MS,
  });
  return data.filter(({ attributes }) => {
    const { kind: name, deleted_at: deletedAt, window, last_backup_at: last } = attributes;
    return name === kind.name && deletedAt !== null && (window !== null || last !== null);
  });
}

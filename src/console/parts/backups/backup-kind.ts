// A kind whose instances have backups, as the shared pages of backups know it.
import type { BackupsDocument, CacheSnapshotResource, DatabaseSnapshotResource } from "../../../sdk/index.ts";
import type { ConsoleResource, KindIdentity } from "../kind.ts";

/** A snapshot of any kind. */
export type SnapshotResource = CacheSnapshotResource | DatabaseSnapshotResource;

/** What can be restored of an instance. */
export type BackupsData = BackupsDocument["data"];

/** The members that the pages of backups need of a resource. */
export interface BackedUpResource extends ConsoleResource {
  meta: NonNullable<ConsoleResource["meta"]> & {
    restore: { done_bytes: number; total_bytes: number; estimate_seconds: number | null } | null;
    origin: { source: string; snapshot: string | null; restore_time: string | null } | null;
  };
}

/** An instance whose backups are shown; it may be deleted. */
export interface BackupSource {
  id: string;
  name: string;
}

/** What is restored: a snapshot by its id, or an instant in ISO 8601. */
export type RestoreTarget = { snapshot: string } | { at: string };

/** A schedule of backups, and how it is turned on. */
export interface Schedule<Resource extends BackedUpResource> {
  isOn: boolean;
  /** What it gives. */
  text: string;
  label: string;
  turnOn(): Promise<{ data: Resource }>;
}

/** What the pages of backups can ask of a kind. */
export interface BackupKind<Resource extends BackedUpResource = BackedUpResource> {
  kind: KindIdentity<Resource>;
  /** The `type` of its snapshots in the API, whose events keep their list up to date. */
  snapshotType: SnapshotResource["type"];
  /** The type of the parts of a resource whose events belong to it, such as the databases of a cluster. */
  partType: "databaseSchemas" | null;
  /** The word for its commands, such as `caches`. */
  command: "caches" | "databases";
  /** The schedule of backups of an instance; null where there is none to turn on. */
  scheduleOf(resource: Resource): Schedule<Resource> | null;
  readBackups(id: string): Promise<BackupsData>;
  listSnapshots(id: string): AsyncIterable<SnapshotResource>;
  createSnapshot(id: string, body: { name: string; description?: string }): Promise<unknown>;
  deleteSnapshot(id: string): Promise<void>;
  restore(id: string, name: string, target: RestoreTarget): Promise<{ data: Resource }>;
  clone(id: string, name: string): Promise<{ data: Resource }>;
  /** Deletes a resource, which cancels its restore. */
  remove(id: string): Promise<void>;
  /** Waits until a deletion has ended. @throws after a minute. */
  untilDeleted(id: string): Promise<void>;
  /** Deletes all backups of a deleted resource. */
  purge(id: string): Promise<void>;
}

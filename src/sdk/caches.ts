// The operations on caches.
import type {
  CacheChange,
  CacheMetrics,
  CacheResource,
  CacheStatus,
  CacheTypeList,
  NewCacheBody,
} from "../resources/caches/schema.ts";
import type { BackupsDocument } from "../resources/shared/backup-schema.ts";
import type { CacheSnapshotResource } from "../resources/shared/snapshot-schema.ts";
import type { LogEntry, LogsDocument } from "../resources/shared/logs-schema.ts";
import { CacheKeys } from "./cache-keys.ts";
import { Collection, type RotationOptions } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { Identifier, PageDocument, SingleDocument } from "./documents.ts";
import { followLogs, readLogs, type LogPageOptions } from "./logs.ts";
import { type MetricPeriod, type MetricStep, readMetrics } from "./metrics.ts";
import { createFrom, Snapshots, type CreateOptions } from "./snapshots.ts";

/** The description of a new cache; everything but type, name, region and size may be left out. */
export type NewCache = NewCacheBody;
export type CacheDocument = SingleDocument<CacheResource>;
export type CachePage = PageDocument<CacheResource>;

/** The types of the cache collection. */
interface CacheKind {
  body: NewCache;
  resource: CacheResource;
  included: Identifier;
  status: CacheStatus;
  filter: "type" | "status" | "region";
}

/** Shows only caches whose attributes have these values. */
export type CacheFilter = Partial<Record<CacheKind["filter"], string>>;

/** The caches of the token's organization. */
export class Caches extends Collection<CacheKind> {
  /** The snapshots of the caches. */
  readonly snapshots: Snapshots<CacheSnapshotResource>;

  constructor(connection: Connection) {
    super(connection, "/caches");
    const paths = { instances: "/caches", snapshots: "/cache-snapshots" };
    this.snapshots = new Snapshots<CacheSnapshotResource>(connection, paths);
  }

  /** Restores a snapshot to a new cache; the source is only read. */
  async restore(
    id: string,
    body: { name: string; cache_snapshot_id: string },
    options: CreateOptions = {},
  ): Promise<CacheDocument> {
    return await createFrom(this.connection, `${this.pathOf(id)}/restore`, body, options);
  }

  /** Makes a new cache with the keys of a cache. */
  async clone(id: string, body: { name: string }, options: CreateOptions = {}): Promise<CacheDocument> {
    return await createFrom(this.connection, `${this.pathOf(id)}/clone`, body, options);
  }

  /** Reads what can be restored of a cache, also of a deleted one. */
  async backups(id: string): Promise<BackupsDocument> {
    const path = `${this.pathOf(id)}/backups`;
    return await this.connection.send<BackupsDocument>({ method: "GET", path });
  }

  /** Deletes all backups of a deleted cache. */
  async purge(id: string): Promise<void> {
    await this.connection.send({ method: "DELETE", path: `${this.pathOf(id)}/backups` });
  }

  /** Changes a cache; another size, eviction policy or reach restarts its engine. */
  async update(id: string, change: CacheChange): Promise<CacheDocument> {
    return await this.change<CacheDocument>(id, change);
  }

  /** Puts a cache that may hibernate to sleep; resolves when it sleeps. */
  async suspend(id: string): Promise<CacheDocument> {
    return await this.putToSleep<CacheDocument>(id);
  }

  /** Gives a cache a new password; the former one is refused when the cache is `available` again, or after its grace. */
  async rotateCredentials(id: string, options: RotationOptions = {}): Promise<CacheDocument> {
    return await this.rotate<CacheDocument>(id, options);
  }

  /** Ends the grace period of the latest rotation: the former password is refused from then on. */
  async endGrace(id: string): Promise<CacheDocument> {
    return await this.refuseFormerPassword<CacheDocument>(id);
  }

  /** Reads the metrics, of the last six hours by default; nothing is woken. */
  async metrics(id: string, period?: MetricPeriod, step?: MetricStep): Promise<CacheMetrics> {
    return await readMetrics<CacheMetrics>(this.connection, this.pathOf(id), period, step);
  }

  /** Reads a page of the log of its engine, from the oldest line that is kept on; nothing is woken. */
  async logs(id: string, options: LogPageOptions = {}): Promise<LogsDocument> {
    return await readLogs(this.connection, this.pathOf(id), options);
  }

  /** Yields each line of the log when it is written, from now on by default, until the signal is aborted. */
  followLogs(id: string, options: Parameters<typeof followLogs>[2] = {}): AsyncGenerator<LogEntry, void> {
    return followLogs(this.connection, this.pathOf(id), options);
  }

  /** The keys of the cache with this id. */
  keys(id: string): CacheKeys {
    return new CacheKeys(this.connection, this.pathOf(id));
  }

  /** Reads the available types, with their sizes and regions. */
  async types(): Promise<CacheTypeList> {
    return await this.connection.send<CacheTypeList>({ method: "GET", path: "/caches/types" });
  }
}

// The operations on database clusters and on the databases in them.
import type {
  DatabaseClusterChange,
  DatabaseMetrics,
  DatabaseQueries,
  DatabaseStatements,
  DatabaseClusterResource,
  DatabaseClusterStatus,
  DatabaseTypeList,
  NewDatabaseClusterBody,
  NewDatabase,
  NewQueryBody,
  QueryDocument,
  DatabaseResource,
  DatabaseStatus,
  DatabaseSnapshotResource,
  DatabaseRefreshBody,
  NewDatabaseCloneBody,
  NewDatabaseRestoreBody,
} from "../resources/databases/schema.ts";
import type { BackupsDocument } from "../resources/shared/backup-schema.ts";
import type { LogEntry, LogsDocument } from "../resources/shared/logs-schema.ts";
import { Collection, type RotationOptions } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";
import { followLogs, readLogs, type LogPageOptions } from "./logs.ts";
import { type MetricPeriod, type MetricStep, readMetrics } from "./metrics.ts";
import { createFrom, Snapshots, type CreateOptions } from "./snapshots.ts";

/** The description of a new cluster; everything but type, name and region may be left out. */
export type NewDatabaseCluster = NewDatabaseClusterBody;
/** A cluster, with the databases in it where `include: ["databases"]` asks for them. */
export type DatabaseClusterDocument = SingleDocument<DatabaseClusterResource, DatabaseResource>;
export type DatabaseClusterPage = PageDocument<DatabaseClusterResource>;
/** A database in a cluster, with the cluster where `include: ["database"]` asks for it. */
export type DatabaseDocument = SingleDocument<DatabaseResource, DatabaseClusterResource>;
export type DatabasePage = PageDocument<DatabaseResource>;

/** A statement with its bounds; it may only read unless `read_only` is false. */
export type NewQuery = NewQueryBody;
/** The figure by which statements are ordered. */
export type StatementOrder = DatabaseStatements["meta"]["sort"];
/** What a cancel ends: the statement alone, or the session with it. */
export type CancelScope = "statement" | "session";

/** The types of the cluster collection. */
interface DatabaseKind {
  body: NewDatabaseCluster;
  resource: DatabaseClusterResource;
  included: DatabaseResource;
  status: DatabaseClusterStatus;
  filter: "type" | "status" | "region";
}

/** The types of the collection of databases in a cluster. */
interface SchemaKind {
  body: NewDatabase;
  resource: DatabaseResource;
  included: DatabaseClusterResource;
  status: DatabaseStatus;
  filter: never;
}

/** Shows only clusters whose attributes have these values. */
export type DatabaseClusterFilter = Partial<Record<DatabaseKind["filter"], string>>;

/** The databases in one cluster. */
export type Schemas = Collection<SchemaKind>;

/** Longer than any deadline of a statement. */
const QUERY_TIMEOUT_MS = 60_000;

/** What to restore: an instant or a snapshot, and the name of the new cluster. */
export type NewDatabaseRestore = NewDatabaseRestoreBody;
/** The name of the new cluster, and the instant of its data, which is now when left out. */
export type NewDatabaseClone = NewDatabaseCloneBody;

/** The instant of the parent's data, which is now when left out. */
export type DatabaseRefresh = DatabaseRefreshBody;

/** The database clusters of the token's organization. */
export class Databases extends Collection<DatabaseKind> {
  /** The snapshots of the clusters. */
  readonly snapshots: Snapshots<DatabaseSnapshotResource>;

  constructor(connection: Connection) {
    super(connection, "/databases/clusters");
    const paths = { instances: "/databases/clusters", snapshots: "/database-snapshots" };
    this.snapshots = new Snapshots<DatabaseSnapshotResource>(connection, paths);
  }

  /** Restores a snapshot or an instant to a new cluster; the source is only read. */
  async restore(
    id: string,
    body: NewDatabaseRestore,
    options: CreateOptions = {},
  ): Promise<DatabaseClusterDocument> {
    return await createFrom(this.connection, `${this.pathOf(id)}/restore`, body, options);
  }

  /** Makes a new cluster with the data of a cluster. */
  async clone(
    id: string,
    body: NewDatabaseClone,
    options: CreateOptions = {},
  ): Promise<DatabaseClusterDocument> {
    return await createFrom(this.connection, `${this.pathOf(id)}/clone`, body, options);
  }

  /** Gives a clone the data of its parent again; it keeps its address and password. */
  async refresh(
    id: string,
    body: DatabaseRefresh = {},
    options: CreateOptions = {},
  ): Promise<DatabaseClusterDocument> {
    return await createFrom(this.connection, `${this.pathOf(id)}/refresh`, body, options);
  }

  /** Reads what can be restored of a cluster, also of a deleted one. */
  async backups(id: string): Promise<BackupsDocument> {
    const path = `${this.pathOf(id)}/backups`;
    return await this.connection.send<BackupsDocument>({ method: "GET", path });
  }

  /** Deletes all backups of a deleted cluster. */
  async purge(id: string): Promise<void> {
    await this.connection.send({ method: "DELETE", path: `${this.pathOf(id)}/backups` });
  }

  /** The databases in the cluster with this id. */
  schemas(id: string): Schemas {
    return new Collection<SchemaKind>(this.connection, `${this.pathOf(id)}/databases`);
  }

  /** Changes a cluster; another size restarts its engine, which ends its connections. */
  async update(id: string, change: DatabaseClusterChange): Promise<DatabaseClusterDocument> {
    return await this.change<DatabaseClusterDocument>(id, change);
  }

  /** Reads a page of the log of its engine, from the oldest line that is kept on; nothing is woken. */
  async logs(id: string, options: LogPageOptions = {}): Promise<LogsDocument> {
    return await readLogs(this.connection, this.pathOf(id), options);
  }

  /** Yields each line of the log when it is written, from now on by default, until the signal is aborted. */
  followLogs(id: string, options: Parameters<typeof followLogs>[2] = {}): AsyncGenerator<LogEntry, void> {
    return followLogs(this.connection, this.pathOf(id), options);
  }

  /** Suspends a cluster that may sleep; resolves when it sleeps. */
  async suspend(id: string): Promise<DatabaseClusterDocument> {
    return await this.putToSleep<DatabaseClusterDocument>(id);
  }

  /** Gives a cluster a new password; the former one is refused when the cluster is `available` again, or after its grace. */
  async rotateCredentials(id: string, options: RotationOptions = {}): Promise<DatabaseClusterDocument> {
    return await this.rotate<DatabaseClusterDocument>(id, options);
  }

  /** Ends the grace period of the latest rotation: the former password is refused from then on. */
  async endGrace(id: string): Promise<DatabaseClusterDocument> {
    return await this.refuseFormerPassword<DatabaseClusterDocument>(id);
  }

  /** Reads the metrics, of the last six hours by default; nothing is woken. */
  async metrics(id: string, period?: MetricPeriod, step?: MetricStep): Promise<DatabaseMetrics> {
    return await readMetrics<DatabaseMetrics>(this.connection, this.pathOf(id), period, step);
  }

  /**
   * Runs a statement in a database of a cluster, with the cluster's own credentials; a sleeping cluster wakes.
   * @param databaseId the id of the database, such as `schema-…`.
   * @param options.signal cancels the statement at the engine.
   * @throws PilviError whose `engine` says what the engine found wrong with the statement.
   */
  async query(
    id: string,
    databaseId: string,
    query: NewQuery,
    options: { signal?: AbortSignal } = {},
  ): Promise<QueryDocument> {
    return await this.connection.send<QueryDocument>({
      method: "POST",
      path: `${this.pathOf(id)}/databases/${encodeURIComponent(databaseId)}/query`,
      body: query,
      isOnce: true,
      timeoutMs: QUERY_TIMEOUT_MS,
      signal: options.signal,
    });
  }

  /** Reads what runs in a cluster, without idle sessions by default; nothing is woken. */
  async queries(
    id: string,
    { withIdle = false, signal }: { withIdle?: boolean; signal?: AbortSignal } = {},
  ): Promise<DatabaseQueries> {
    return await this.connection.send<DatabaseQueries>({
      method: "GET",
      path: `${this.pathOf(id)}/queries`,
      query: new URLSearchParams(withIdle ? { idle: "true" } : {}),
      signal,
    });
  }

  /**
   * Cancels a statement that runs, or ends its session.
   * @param query the id from `queries`, which stands for one run of a statement.
   */
  async cancelQuery(id: string, query: string, scope: CancelScope = "statement"): Promise<void> {
    await this.connection.send({
      method: "DELETE",
      path: `${this.pathOf(id)}/queries/${encodeURIComponent(query)}`,
      query: new URLSearchParams({ scope }),
    });
  }

  /** Reads what the statements of a Postgres have taken, by their total time by default; nothing is woken. */
  async statements(
    id: string,
    { sort, limit, signal }: { sort?: StatementOrder; limit?: number; signal?: AbortSignal } = {},
  ): Promise<DatabaseStatements> {
    const query = new URLSearchParams(sort && { sort });
    if (limit !== undefined) query.set("limit", String(limit));
    const path = `${this.pathOf(id)}/statements`;
    return await this.connection.send<DatabaseStatements>({ method: "GET", path, query, signal });
  }

  /** Begins the figures of statements anew; the cluster must be awake. */
  async resetStatements(id: string): Promise<void> {
    await this.connection.send({ method: "DELETE", path: `${this.pathOf(id)}/statements` });
  }

  /** Reads the available types, with their versions, regions and the members of their config. */
  async types(): Promise<DatabaseTypeList> {
    return await this.connection.send<DatabaseTypeList>({ method: "GET", path: "/databases/types" });
  }
}

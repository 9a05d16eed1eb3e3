// The operations on database clusters and on the databases in them.
import type { z } from "zod";
import type {
  databaseClusterChange,
  DatabaseMetrics,
  DatabaseClusterResource,
  DatabaseClusterStatus,
  databaseTypeList,
  newDatabaseCluster,
  NewDatabase,
  DatabaseResource,
  DatabaseStatus,
} from "../resources/databases/schema.ts";
import type { InstanceMetricPeriod } from "../resources/shared/metrics-schema.ts";
import { Collection } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";

/** The description of a new cluster; everything but type, name and region may be left out. */
export type NewDatabaseCluster = z.input<typeof newDatabaseCluster>;
/** The members of a cluster's config to change; the rest stays as it is. */
export type DatabaseClusterChange = z.input<typeof databaseClusterChange>;
/** A cluster, with the databases in it where `include: ["databases"]` asks for them. */
export type DatabaseClusterDocument = SingleDocument<DatabaseClusterResource, DatabaseResource>;
export type DatabaseClusterPage = PageDocument<DatabaseClusterResource>;
/** The types that can be ordered. */
export type DatabaseTypeList = z.output<typeof databaseTypeList>;
/** A database in a cluster, with the cluster where `include: ["database"]` asks for it. */
export type DatabaseDocument = SingleDocument<DatabaseResource, DatabaseClusterResource>;
export type DatabasePage = PageDocument<DatabaseResource>;

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

/** The database clusters of the token's organization. */
export class Databases extends Collection<DatabaseKind> {
  constructor(connection: Connection) {
    super(connection, "/databases/clusters");
  }

  /** The databases in the cluster with this id. */
  schemas(id: string): Schemas {
    return new Collection<SchemaKind>(this.connection, `${this.pathOf(id)}/databases`);
  }

  /** Changes a cluster; another size restarts its engine, which ends its connections. */
  async update(id: string, change: DatabaseClusterChange): Promise<DatabaseClusterDocument> {
    return await this.change<DatabaseClusterDocument>(id, change);
  }

  /** Suspends a cluster that may sleep; resolves when it sleeps. */
  async suspend(id: string): Promise<DatabaseClusterDocument> {
    return await this.putToSleep<DatabaseClusterDocument>(id);
  }

  /**
   * Gives a cluster a new password; the former one is refused when the cluster is `available` again.
   * @param options.idempotencyKey makes repetitions over several processes safe; by default each call has its own.
   */
  async rotateCredentials(
    id: string,
    options: { idempotencyKey?: string } = {},
  ): Promise<DatabaseClusterDocument> {
    return await this.rotate<DatabaseClusterDocument>(id, options);
  }

  /** Reads the metrics, of the last six hours by default; nothing is woken. */
  async metrics(id: string, period?: InstanceMetricPeriod): Promise<DatabaseMetrics> {
    const query = new URLSearchParams(period && { period });
    return await this.connection.send<DatabaseMetrics>({
      method: "GET",
      path: `${this.pathOf(id)}/metrics`,
      query,
    });
  }

  /** Reads the available types, with their versions, regions and the members of their config. */
  async types(): Promise<DatabaseTypeList> {
    return await this.connection.send<DatabaseTypeList>({ method: "GET", path: "/databases/types" });
  }
}

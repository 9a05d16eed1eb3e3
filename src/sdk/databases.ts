// The operations on database clusters and on the databases in them.
import type { z } from "zod";
import type {
  DatabaseResource,
  DatabaseStatus,
  databaseTypeList,
  newDatabase,
  NewSchema,
  SchemaResource,
  SchemaStatus,
} from "../resources/databases/schema.ts";
import { Collection } from "./collection.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";

/** What a new cluster is described by; everything but type, name and region may be left out. */
export type NewDatabase = z.input<typeof newDatabase>;
/** A cluster, with the databases in it where `include: ["databases"]` asks for them. */
export type DatabaseDocument = SingleDocument<DatabaseResource, SchemaResource>;
export type DatabasePage = PageDocument<DatabaseResource>;
/** What can be ordered. */
export type DatabaseTypeList = z.output<typeof databaseTypeList>;
/** A database in a cluster, with the cluster where `include: ["database"]` asks for it. */
export type SchemaDocument = SingleDocument<SchemaResource, DatabaseResource>;
export type SchemaPage = PageDocument<SchemaResource>;

/** What makes clusters a kind of resource. */
interface DatabaseKind {
  body: NewDatabase;
  resource: DatabaseResource;
  included: SchemaResource;
  status: DatabaseStatus;
  filter: "type" | "status" | "region";
}

/** What makes databases in a cluster a kind of resource. */
interface SchemaKind {
  body: NewSchema;
  resource: SchemaResource;
  included: DatabaseResource;
  status: SchemaStatus;
  filter: never;
}

/** Shows only clusters whose attributes have these values. */
export type DatabaseFilter = Partial<Record<DatabaseKind["filter"], string>>;

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

  /** Reads which types there are, with their versions, regions and the members of their config. */
  async types(): Promise<DatabaseTypeList> {
    return await this.connection.send<DatabaseTypeList>({ method: "GET", path: "/databases/types" });
  }
}

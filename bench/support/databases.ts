// The steps of measurements with database clusters through the API, and the measured types.
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { clusterBody, MYSQL, POSTGRES, type ClusterDocument } from "../../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import type { Address } from "./clients.ts";

/** A type of cluster to measure. */
export interface Measured {
  label: string;
  /** Its engine, after which folders of slots are named. */
  engine: "postgres" | "mariadb";
  attributes: Record<string, unknown>;
}

export const MEASURED: readonly Measured[] = [
  { label: "Postgres", engine: "postgres", attributes: { type: POSTGRES } },
  { label: "MySQL (MariaDB)", engine: "mariadb", attributes: { type: MYSQL } },
];

/** Sends a create and returns the 201's resource, whose engine does not run yet. */
export async function orderCluster(
  pilvi: TestPilvi,
  { attributes }: Measured,
): Promise<DatabaseClusterResource> {
  const order = clusterBody(attributes);
  const { status, body } = await pilvi.api<ClusterDocument>("POST", "/databases/clusters", order);
  if (status !== 201) throw new Error(`POST /databases/clusters: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** The customer's address of the database that every new cluster has, as the cluster's resource has it. */
export function addressOf({ attributes }: DatabaseClusterResource): Address {
  const { protocol, hostname, port, username = "", password = "" } = attributes.connection;
  return { protocol, place: { hostname, port }, login: { username, password, database: "main" } };
}

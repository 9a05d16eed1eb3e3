// The types of database clusters: what they are called, which engines serve them, and what clients speak to them.
import type { EngineName } from "../../drivers/driver.ts";

export const databaseTypes = [
  "platform_mysql",
  "provider_managed_mysql",
  "provider_managed_postgres",
  "hosted_serverless_postgres",
] as const;

/** What a customer orders; which engine that is, `meta.engine` tells. */
export type DatabaseType = (typeof databaseTypes)[number];

export const databaseTypeLabels: Record<DatabaseType, string> = {
  platform_mysql: "MySQL",
  provider_managed_mysql: "Managed MySQL",
  provider_managed_postgres: "Managed Postgres",
  hosted_serverless_postgres: "Serverless Postgres",
};

/** What a client has to speak. */
export type Protocol = "mysql" | "postgres";

/** The protocol of a type. */
export function protocolOf(type: DatabaseType): Protocol {
  return type.endsWith("mysql") ? "mysql" : "postgres";
}

/** The name under which database libraries know a protocol. */
export const drivers = { mysql: "mysql", postgres: "pgsql" } as const;

/** The engines that will do for a type, the preferred one first. */
export function enginesFor(type: DatabaseType): [EngineName, ...EngineName[]] {
  return protocolOf(type) === "mysql" ? ["mysql", "mariadb"] : ["postgres"];
}

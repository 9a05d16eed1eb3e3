// The types of database clusters: what they are called, which engines serve them, and what clients speak to them.
import type { EngineName } from "../../drivers/driver.ts";
import { nativeVerifier, scramVerifier } from "../../lib/verifiers.ts";

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

interface ProtocolTraits {
  /** The name under which database libraries know it. */
  driver: "mysql" | "pgsql";
  /** The engines that will do, the preferred one first. */
  engines: [EngineName, ...EngineName[]];
  /** What an engine can verify the password with. @param salt the same for the same cluster. */
  verifierOf(password: string, salt: string): string;
}

export const protocols: Record<Protocol, ProtocolTraits> = {
  mysql: { driver: "mysql", engines: ["mariadb"], verifierOf: nativeVerifier },
  postgres: { driver: "pgsql", engines: ["postgres"], verifierOf: scramVerifier },
};

/** The protocol of a type. */
export function protocolOf(type: DatabaseType): Protocol {
  return type.endsWith("mysql") ? "mysql" : "postgres";
}

/** The engines that will do for a type, the preferred one first. */
export function enginesFor(type: DatabaseType): [EngineName, ...EngineName[]] {
  return protocols[protocolOf(type)].engines;
}

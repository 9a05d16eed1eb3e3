// The types of database clusters: their names, their engines, and their protocols.
import type { EngineName } from "../../contracts/engine-names.ts";
import { nativeForms, scramForms, type PasswordForms } from "../../lib/verifiers.ts";

export const databaseTypes = [
  "platform_mysql",
  "provider_managed_mysql",
  "provider_managed_postgres",
  "hosted_serverless_postgres",
] as const;

/** The types that a customer orders; `meta.engine` names the engine behind a type. */
export type DatabaseType = (typeof databaseTypes)[number];

export const databaseTypeLabels: Record<DatabaseType, string> = {
  platform_mysql: "MySQL",
  provider_managed_mysql: "Managed MySQL",
  provider_managed_postgres: "Managed Postgres",
  hosted_serverless_postgres: "Serverless Postgres",
};

/** The protocol that clients speak. */
export type Protocol = "mysql" | "postgres";

interface ProtocolTraits {
  /** The name of the protocol in database libraries. */
  driver: "mysql" | "pgsql";
  /** The engines that can serve the type, the preferred engine first. */
  engines: [EngineName, ...EngineName[]];
  /** Whether the engine says what its connections do. */
  hasConnectionStates: boolean;
  /** Whether a cluster with scheduled backups gets a snapshot each day, however little of its log there is. */
  hasDailySnapshots: boolean;
  /** Whether other instances can follow the log of the engine. */
  hasReplicas: boolean;
  /** Whether the engine keeps figures of its statements. */
  hasStatementStatistics: boolean;
  /** The forms of a password that the engine and the gateway need. @param salt always the same for the same cluster. */
  formsOf(password: string, salt: string): PasswordForms;
}

export const protocols: Record<Protocol, ProtocolTraits> = {
  mysql: {
    driver: "mysql",
    engines: ["mariadb"],
    hasConnectionStates: false,
    hasDailySnapshots: true,
    hasReplicas: false,
    hasStatementStatistics: false,
    formsOf: nativeForms,
  },
  postgres: {
    driver: "pgsql",
    engines: ["postgres"],
    hasConnectionStates: true,
    hasDailySnapshots: false,
    hasReplicas: true,
    hasStatementStatistics: true,
    formsOf: scramForms,
  },
};

/** The protocol of a type. */
export function protocolOf(type: DatabaseType): Protocol {
  return type.endsWith("mysql") ? "mysql" : "postgres";
}

/** The engines that can serve a type, the preferred engine first. */
export function enginesFor(type: DatabaseType): [EngineName, ...EngineName[]] {
  return protocols[protocolOf(type)].engines;
}

// The shape of `config` of each type of database cluster.
import type { DatabaseType } from "../types.ts";
import { managedMysql, managedPostgres, type ManagedConfig } from "./managed.ts";
import { platformMysql, type PlatformMysqlConfig } from "./platform-mysql.ts";
import { serverless, type ServerlessConfig } from "./serverless.ts";

/** The values in force, for any type. */
export type DatabaseConfig = ServerlessConfig | PlatformMysqlConfig | ManagedConfig;

/** The shape of each type. */
export const configVariants: Record<
  DatabaseType,
  typeof serverless | typeof platformMysql | typeof managedPostgres
> = {
  platform_mysql: platformMysql,
  provider_managed_mysql: managedMysql,
  provider_managed_postgres: managedPostgres,
  hosted_serverless_postgres: serverless,
};

const members = new Set(Object.values(configVariants).flatMap(({ schema }) => Object.keys(schema.shape)));

/** The members of a change's `config` that some type knows, always in the same order. */
export function changedMembers(config: Record<string, unknown>): Record<string, unknown> {
  const known = [...members].filter((name) => Object.hasOwn(config, name));
  return Object.fromEntries(known.map((name) => [name, config[name]]));
}

/** The same members of a new cluster's `config`, in which null stands for absence. */
export function knownMembers(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changedMembers(config)).filter(([, value]) => value !== null));
}

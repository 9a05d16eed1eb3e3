// The networks that reach a database cluster, and its idle time before it sleeps.
import { expect, test } from "bun:test";
import { configVariants, type DatabaseConfig } from "./configs/index.ts";
import { canSleep, exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import type { DatabaseType } from "./types.ts";

function configOf(type: DatabaseType, given: object): DatabaseConfig {
  return configVariants[type].complete(given);
}

test.each([
  ["hosted_serverless_postgres", {}, 300, true],
  ["hosted_serverless_postgres", { suspend_seconds: 1 }, 1, true],
  ["hosted_serverless_postgres", { suspend_seconds: 0 }, null, true],
  ["platform_mysql", {}, null, true],
  ["platform_mysql", { size: "mysql-flex-2gb", suspend_seconds: 60 }, 60, true],
  ["platform_mysql", { size: "db-flex.m-1vcpu-4gb", suspend_seconds: 60 }, 60, true],
  ["platform_mysql", { size: "mysql-pro-4gb" }, null, false],
  ["provider_managed_mysql", {}, null, false],
  ["provider_managed_postgres", {}, null, false],
] as const)("%s with %j sleeps after %p seconds", (type, given, seconds, can) => {
  const cluster = { config: configOf(type, given) };
  expect(sleepAfterSecondsOf(cluster)).toBe(seconds);
  expect(canSleep(cluster)).toBe(can);
});

test.each([
  ["hosted_serverless_postgres", {}, "loopback"],
  ["platform_mysql", {}, "loopback"],
  ["platform_mysql", { is_public: true }, "public"],
  ["provider_managed_postgres", { is_public: true }, "public"],
] as const)("%s with %j is reached through the gateway, from %s", (type, given, scope) => {
  const cluster = { port: 20_001, config: configOf(type, given) };
  expect(exposureOf(cluster)).toEqual({ port: 20_001, scope, through: "gateway" });
});

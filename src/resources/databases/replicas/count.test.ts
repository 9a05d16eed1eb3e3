// How many replicas an order stands for, and what they take of the quotas.
import { expect, test } from "bun:test";
import { allocationOf } from "../allocation.ts";
import { configVariants, type DatabaseConfig } from "../configs/index.ts";
import type { DatabaseType } from "../types.ts";
import { replicaCountOf } from "./count.ts";

const WANTED = { uses_pitr: true, deployment_option: "single-az-with-read-replicas", read_replicas: 3 };

const order = (given: object, type: DatabaseType = "provider_managed_postgres") => ({
  type,
  config: configVariants[type].complete(given),
});

test.each([
  ["the ordered number", order(WANTED), 3],
  [
    "one, when only the option is given",
    order({ uses_pitr: true, deployment_option: WANTED.deployment_option }),
    1,
  ],
  ["the number alone asks for them", order({ uses_pitr: true, read_replicas: 2 }), 2],
  ["none in a single zone", order({ ...WANTED, deployment_option: "single-az" }), 0],
  ["none without a log", order({ ...WANTED, uses_pitr: false }), 0],
  ["none of a MySQL", order(WANTED, "provider_managed_mysql"), 0],
  ["none of a serverless Postgres", order({ retention_days: 7 }, "hosted_serverless_postgres"), 0],
])("%s", (_what, ordered, count) => expect(replicaCountOf(ordered)).toBe(count));

test("an order of an earlier release has no more than the bound", () => {
  const { config, type } = order(WANTED);
  expect(replicaCountOf({ type, config: { ...config, read_replicas: 15 } as DatabaseConfig })).toBe(5);
});

test("each replica takes as much as the cluster", () => {
  const [alone, all] = [allocationOf(order({ uses_pitr: true })), allocationOf(order(WANTED))];
  expect(all).toEqual({ memoryBytes: 4 * alone.memoryBytes, connections: 4 * alone.connections });
});

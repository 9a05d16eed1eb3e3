// Many clusters created at once: all of them become available, and each has its own data.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  databaseNames,
  MYSQL,
  orderCluster,
  POSTGRES,
  untilCluster,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { type TestPilvi } from "../support/pilvi/pilvi.ts";

const CLUSTERS_OF_EACH = 20;

/** Without warm slots two processors build forty data directories in turn. */
const PATIENCE_MS = 500_000;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});

afterAll(async () => {
  await pilvi.close();
});

test("20 Postgres and 20 MySQL clusters that are created at once become available", async () => {
  const types = Array.from({ length: CLUSTERS_OF_EACH }, () => [POSTGRES, MYSQL]).flat();
  const ordered = await Promise.all(types.map((type) => orderCluster(pilvi, { type })));
  const clusters = [];
  for (const { id } of ordered) clusters.push(await untilCluster(pilvi, id, "available", {}, PATIENCE_MS));
  expect(new Set(clusters.map(({ attributes }) => attributes.connection.port)).size).toBe(types.length);
  for (const cluster of clusters) {
    expect(cluster.meta.last_error).toBeNull();
    expect(await databaseNames(cluster)).toEqual(["main"]);
  }
}, 600_000);

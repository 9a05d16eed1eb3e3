// Clones and their refreshes for tests: what they need of a Pilvi, and what must be true after each.
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { connectMysql, connectPg, firstOf, untilCluster, type ClusterDocument } from "./databases.ts";
import { until, type Answer, type TestPilvi } from "./pilvi.ts";

/** The first value of a statement at a cluster, as its customer runs it. */
export async function run(cluster: DatabaseClusterResource, sql: string): Promise<unknown> {
  if (cluster.attributes.connection.protocol === "mysql") return await runMysql(cluster, sql);
  const client = await connectPg(cluster);
  try {
    return await firstOf(client, sql);
  } finally {
    await client.end();
  }
}

async function runMysql(cluster: DatabaseClusterResource, sql: string): Promise<unknown> {
  const client = await connectMysql(cluster);
  try {
    const [rows] = await client.query(sql);
    return Array.isArray(rows) ? Object.values(rows[0] ?? {})[0] : undefined;
  } finally {
    await client.end();
  }
}

/** Sends a request about a cluster. */
export async function post(
  pilvi: TestPilvi,
  id: string,
  verb: string,
  json: object = {},
): Promise<Answer<ClusterDocument>> {
  return await pilvi.api<ClusterDocument>("POST", `/databases/clusters/${id}/${verb}`, json);
}

/** Makes a clone, and waits until it is available. */
export async function clone(
  pilvi: TestPilvi,
  id: string,
  json: object = {},
): Promise<DatabaseClusterResource> {
  const { status, body } = await post(pilvi, id, "clone", { name: "preview", ...json });
  expect([status, body]).toMatchObject([201, {}]);
  return await untilCluster(pilvi, body.data.id, "available");
}

/** Begins a refresh; the answer says that it is under way. */
export async function beginRefresh(pilvi: TestPilvi, id: string, json: object = {}): Promise<void> {
  const { status, body } = await post(pilvi, id, "refresh", json);
  expect([status, body.data?.attributes.status ?? body]).toEqual([200, "updating"]);
  expect(body.data.meta.refresh?.status).toBe("refreshing");
}

/** Refreshes a clone, and waits until it is available again. */
export async function refresh(
  pilvi: TestPilvi,
  id: string,
  json: object = {},
): Promise<DatabaseClusterResource> {
  await beginRefresh(pilvi, id, json);
  return await untilCluster(pilvi, id, "available");
}

/** What a refresh leaves as it is. */
export function identityOf({ id, attributes }: DatabaseClusterResource): unknown[] {
  const { name, connection, config } = attributes;
  return [id, name, connection, config];
}

/** Nothing is left of the stages in which data was made. */
export async function untilStagesAreGone({ dataDir }: TestPilvi): Promise<void> {
  await until("nothing is left of the stages", () =>
    readdirSync(join(dataDir, "instances")).every((name) => !name.startsWith("refresh-")),
  );
}

/** Nothing is left of the stage, nor of the data of before. */
export async function untilTidy(pilvi: TestPilvi, { id }: DatabaseClusterResource): Promise<void> {
  await untilStagesAreGone(pilvi);
  const rest = readdirSync(join(pilvi.dataDir, "instances", id));
  expect(rest.filter((name) => /incoming|former|build/.test(name))).toEqual([]);
}

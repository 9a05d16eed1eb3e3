// Database clusters for tests: creating them, logging into them, and checking what the host made of them.
import { join } from "node:path";
import { createConnection, type Connection, type ConnectionOptions } from "mysql2/promise";
import { Client, type ClientConfig } from "pg";
import { holdersOf } from "../../../src/host/os/locks.ts";
import { userName } from "../../../src/lib/libc.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import type { DatabaseResource } from "../../../src/resources/databases/schemas/schema.ts";
import type { DatabaseType } from "../../../src/resources/databases/types.ts";
import { startPilvi, until, type TestPilvi } from "./pilvi.ts";
import { parentsFirst } from "./processes.ts";
import { giveSlot } from "./template.ts";

/** A single-resource answer about a cluster. */
export interface ClusterDocument {
  data: DatabaseClusterResource;
}

/** A single-resource answer about a database in a cluster. */
export interface DatabaseDocument {
  data: DatabaseResource;
}

/** The two types that stand for their engines where both types of an engine behave the same. */
export const POSTGRES: DatabaseType = "hosted_serverless_postgres";
export const MYSQL: DatabaseType = "platform_mysql";

/** The versions of Postgres that Pilvi brings along. */
export const POSTGRES_MAJORS = [14, 15, 16, 17, 18];

/** Starts a Pilvi for database clusters. */
export async function startDatabases(env: Record<string, string> = {}): Promise<TestPilvi> {
  return await startPilvi({ env });
}

/** A valid body for `POST /databases/clusters`. */
export function clusterBody(attributes: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: POSTGRES, name: "orders", region: "eu-central-1", ...attributes };
}

/** Requests a cluster. */
export async function orderCluster(
  pilvi: TestPilvi,
  attributes: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<DatabaseClusterResource> {
  const path = "/databases/clusters";
  const { status, body } = await pilvi.api<ClusterDocument>("POST", path, clusterBody(attributes), headers);
  if (status !== 201) throw new Error(`no cluster: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** Creates a cluster and waits until it is available. */
export async function createCluster(
  pilvi: TestPilvi,
  attributes: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<DatabaseClusterResource> {
  // The content of the pool is the subject of tests that have one, and steps of the build of those with fail points.
  const { PILVI_WARM_SLOTS: slots, PILVI_FAILPOINT_DIR: failpoints } = pilvi.env;
  if (slots === "0" && failpoints === undefined) giveSlot(pilvi.dataDir, engineOf(attributes));
  const { id } = await orderCluster(pilvi, attributes, headers);
  return await untilCluster(pilvi, id, "available", headers);
}

/** Waits until the cluster has the status; a single request waits for less than a busy machine may take. */
export async function untilCluster(
  pilvi: TestPilvi,
  id: string,
  status: string,
  headers: Record<string, string> = {},
  timeoutMs = 90_000,
): Promise<DatabaseClusterResource> {
  const path = `/databases/clusters/${id}?wait=${status}`;
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const { status: code, body } = await pilvi.api<ClusterDocument>("GET", path, undefined, headers);
    if (code === 200 && body.data.attributes.status === status) return body.data;
    if (code !== 200 || performance.now() > giveUpAt)
      throw new Error(`${id} is not ${status}: ${code} ${JSON.stringify(body)}`);
  }
}

function engineOf({ type = POSTGRES }: Record<string, unknown>): "mariadb" | "postgres" {
  return String(type).endsWith("mysql") ? "mariadb" : "postgres";
}

/** Deletes the cluster and waits until it is gone. */
export async function deleteCluster(pilvi: TestPilvi, id: string): Promise<void> {
  await pilvi.api("DELETE", `/databases/clusters/${id}`);
  const answer = await pilvi.api("GET", `/databases/clusters/${id}?wait=deleted`);
  if (answer.status !== 404) throw new Error(`${id} is not gone: ${JSON.stringify(answer.body)}`);
}

/** Creates a database in a cluster and waits until it is there. */
export async function createDatabase(pilvi: TestPilvi, clusterId: string, name: string): Promise<string> {
  const path = `/databases/clusters/${clusterId}/databases`;
  const created = await pilvi.api<DatabaseDocument>("POST", path, { name });
  if (created.status !== 201)
    throw new Error(`no ${name}: ${created.status} ${JSON.stringify(created.body)}`);
  const { id } = created.body.data;
  const there = await pilvi.api<DatabaseDocument>("GET", `${path}/${id}?wait=available`);
  if (there.body.data.attributes.status !== "available") throw new Error(`${name} is not there`);
  return id;
}

/** Deletes a database of a cluster and waits until it is gone. */
export async function deleteDatabase(pilvi: TestPilvi, clusterId: string, id: string): Promise<void> {
  const path = `/databases/clusters/${clusterId}/databases/${id}`;
  await pilvi.api("DELETE", path);
  const answer = await pilvi.api("GET", `${path}?wait=deleted`);
  if (answer.status !== 404) throw new Error(`${id} is not gone: ${JSON.stringify(answer.body)}`);
}

/** The options that every client needs. */
export function loginOf({ attributes: { connection } }: DatabaseClusterResource) {
  const { hostname: host, port, username: user = "", password = "" } = connection;
  return { host, port, user, password, database: "main" };
}

/** Options of a session that differ from the default; the types of `pg` leave some options out. */
export type PgOptions = ClientConfig & { replication?: string };

/** Logs in with `pg`. The engine may end the session at any time, which is no error by itself. */
export async function connectPg(cluster: DatabaseClusterResource, options: PgOptions = {}): Promise<Client> {
  const client = new Client({ ...loginOf(cluster), ...options });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** The default of `mysql2`, 10 s, is less than a wake may take on a busy machine. */
export const MYSQL_CONNECT_TIMEOUT_MS = 60_000;

/** Logs in with `mysql2`. */
export async function connectMysql(
  cluster: DatabaseClusterResource,
  options: ConnectionOptions = {},
): Promise<Connection> {
  return await createConnection({
    connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    ...loginOf(cluster),
    ...options,
  });
}

/** The first column of the first row. */
export async function firstOf(client: Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: "array" });
  return rows[0]?.[0];
}

/** The first column of the first row. */
export async function firstOfMysql(connection: Connection, sql: string): Promise<unknown> {
  const [rows] = await connection.query({ sql, rowsAsArray: true });
  return Array.isArray(rows) && Array.isArray(rows[0]) ? rows[0][0] : undefined;
}

/** The customer's databases, as the engine itself lists them. */
export async function databaseNames(cluster: DatabaseClusterResource): Promise<unknown[]> {
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster, { database: "postgres" });
    const sql =
      "select datname from pg_database where datname not in ('postgres') and not datistemplate order by 1";
    const { rows } = await client.query<[string]>({ text: sql, rowMode: "array" });
    await client.end();
    return rows.flat();
  }
  const connection = await connectMysql(cluster, { database: "information_schema" });
  const [rows] = await connection.query({
    sql: "select schema_name from schemata where schema_name not in ('mysql', 'sys', 'information_schema', 'performance_schema') order by 1",
    rowsAsArray: true,
  });
  await connection.end();
  return Array.isArray(rows) ? rows.flat() : [];
}

/** Waits until a login works and the statement is answered; an engine that restarts after a crash takes a moment. */
export async function untilAnswers(cluster: DatabaseClusterResource): Promise<void> {
  await until(`${cluster.id} answers`, async () => {
    try {
      if (cluster.attributes.connection.protocol === "postgres") await (await connectPg(cluster)).end();
      else await (await connectMysql(cluster)).end();
      return true;
    } catch {
      return false;
    }
  });
}

/** The pids of all processes of an instance's engine, their parent first. */
export function processesOf(pilvi: TestPilvi, id: string): number[] {
  const lock = join(pilvi.dataDir, "instances", id, "lock");
  return parentsFirst(holdersOf(lock));
}

/** Logs in as the host itself does, authenticated by the kernel, to see what no customer can. */
export async function connectPgAdmin(
  pilvi: TestPilvi,
  cluster: DatabaseClusterResource,
  database = "postgres",
): Promise<Client> {
  const host = join(pilvi.dataDir, "instances", cluster.id, "run");
  return await connectPg(cluster, { host, user: "pilvi_admin", database });
}

/** Logs in as the host itself does, authenticated by the kernel, to see what no customer can. */
export async function connectMysqlAdmin(
  pilvi: TestPilvi,
  cluster: DatabaseClusterResource,
): Promise<Connection> {
  const socketPath = join(pilvi.dataDir, "instances", cluster.id, "run", "engine.sock");
  const user = userName(process.getuid?.() ?? 0) ?? "root";
  return await connectMysql(cluster, { socketPath, user, database: "mysql" });
}

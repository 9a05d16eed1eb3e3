// How a ledger is kept in each kind of instance: one number a write, over a session of the client that customers use.
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { connectMysql, connectPg } from "../support/pilvi/databases.ts";

/** The kinds of instances that can hold a ledger. */
export type Resource = CacheResource | DatabaseClusterResource;

/** What the ledger needs of a session, in every protocol. Each call throws when the session breaks. */
export interface Session {
  /** Creates the table or key for the numbers. */
  prepare(): Promise<unknown>;
  /** Resolves when the engine has confirmed the number. */
  add(n: number): Promise<unknown>;
  numbers(): Promise<number[]>;
  end(): Promise<void>;
}

/** Logs in with the resource's own credentials, once. */
export async function openSession(resource: Resource): Promise<Session> {
  if (resource.type === "caches") return await openCache(resource);
  const isPostgres = resource.attributes.connection.protocol === "postgres";
  return isPostgres ? await openPostgres(resource) : await openMysql(resource);
}

const TABLE = "create table ledger (n int primary key)";
const ADD = "insert into ledger values";
const READ = "select n from ledger";

async function openPostgres(cluster: DatabaseClusterResource): Promise<Session> {
  const client = await connectPg(cluster);
  return {
    prepare: () => client.query(TABLE),
    add: (n) => client.query(`${ADD} (${n})`),
    numbers: async () => (await client.query<{ n: number }>(READ)).rows.map(({ n }) => n),
    end: () => client.end(),
  };
}

async function openMysql(cluster: DatabaseClusterResource): Promise<Session> {
  const connection = await connectMysql(cluster);
  connection.on("error", () => undefined);
  return {
    prepare: () => connection.query(TABLE),
    add: (n) => connection.query(`${ADD} (${n})`),
    async numbers() {
      const [rows] = await connection.query({ sql: READ, rowsAsArray: true });
      return Array.isArray(rows) ? rows.flat().map(Number) : [];
    },
    end: async () => connection.destroy(),
  };
}

async function openCache({ attributes }: CacheResource): Promise<Session> {
  const { hostname, port, username, password } = attributes.connection;
  const client = new Bun.RedisClient(`redis://${username}:${password}@${hostname}:${port}`, {
    autoReconnect: false,
    connectionTimeout: 60_000,
  });
  await client.connect();
  return {
    prepare: async () => undefined,
    add: (n) => client.sadd("ledger", String(n)),
    numbers: async () => (await client.smembers("ledger")).map(Number),
    end: async () => client.close(),
  };
}

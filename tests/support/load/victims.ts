// Customers who must not notice the effects of another's actions: an instance of each kind with a session that has
// state.
import { expect } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { Connection } from "mysql2/promise";
import type { Client } from "pg";
import { findCgroups } from "../../../src/host/os/cgroup-backends.ts";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
  POSTGRES,
  processesOf,
} from "../pilvi/databases.ts";
import type { TestPilvi } from "../pilvi/pilvi.ts";
import { childrenOf, commandLine } from "../pilvi/processes.ts";
import { createServer, publish, RawSocket, type TestServer } from "../pilvi/websockets.ts";

interface Sessions {
  cache: CacheResource;
  client: Redis;
  postgres: DatabaseClusterResource;
  session: Client;
  mysql: DatabaseClusterResource;
  connection: Connection;
  websockets: TestServer;
  socket: RawSocket;
}

export class Victims {
  readonly #pilvi: TestPilvi;
  readonly #all: Sessions;
  /** The process of the Postgres session. */
  readonly sessionPid: number;
  #before = new Map<string, number>();

  private constructor(pilvi: TestPilvi, all: Sessions, sessionPid: number) {
    this.#pilvi = pilvi;
    this.#all = all;
    this.sessionPid = sessionPid;
  }

  static async make(pilvi: TestPilvi): Promise<Victims> {
    const [cache, postgres, mysql, websockets] = await Promise.all([
      pilvi.createCache({ name: "victim" }),
      createCluster(pilvi, { type: POSTGRES, name: "victim" }),
      createCluster(pilvi, { type: MYSQL, name: "victim-mysql" }),
      createServer(pilvi, { name: "victim" }),
    ]);
    const [client, session, connection] = await Promise.all([
      cacheClient(cache),
      connectPg(postgres),
      connectMysql(mysql),
    ]);
    await client.set("kept", "42");
    await session.query("create temporary table kept as select 42 as n");
    await connection.query("set @kept = 42");
    const pid = Number(await firstOf(session, "select pg_backend_pid()"));
    const socket = await new RawSocket(websockets.server, websockets.main).connected();
    await socket.subscribe("news");
    const all = { cache, client, postgres, session, mysql, connection, websockets, socket };
    return new Victims(pilvi, all, pid);
  }

  get cache(): CacheResource {
    return this.#all.cache;
  }

  get postgres(): DatabaseClusterResource {
    return this.#all.postgres;
  }

  get mysql(): DatabaseClusterResource {
    return this.#all.mysql;
  }

  get websockets(): TestServer {
    return this.#all.websockets;
  }

  /** Records the present processes. */
  remember(): void {
    this.#before = this.#survivors();
  }

  /** No victim has lost a process or a session since. */
  async expectUnharmed(): Promise<void> {
    expect(this.#survivors()).toEqual(this.#before);
    const { client, session, connection, socket, websockets } = this.#all;
    expect(await client.get("kept")).toBe("42");
    expect(await firstOf(session, "select n from pg_temp.kept")).toBe(42);
    expect(await firstOfMysql(connection, "select @kept")).toBe(42);
    expect(socket.isOpen).toBe(true);
    const word = crypto.randomUUID();
    await publish(websockets.server, websockets.main, { channel: "news", name: word, data: "{}" });
    await socket.next(word);
  }

  /** The processes that must live on, by name. */
  #survivors(): Map<string, number> {
    const { cache, postgres, mysql, websockets } = this.#all;
    const found = new Map<string, number>([["up", this.#pilvi.pid]]);
    for (const name of ["host", "gateway", "control"] as const) {
      found.set(name, this.#pilvi.pidOf(name) ?? 0);
    }
    for (const id of ["store", cache.id, mysql.id, websockets.id]) {
      found.set(id, this.#pilvi.enginePids(id)[0] ?? 0);
    }
    found.set(postgres.id, processesOf(this.#pilvi, postgres.id)[0] ?? 0);
    found.set("session", existsSync(`/proc/${this.sessionPid}`) ? this.sessionPid : 0);
    // When a session of the store is killed, all of its processes but the first are restarted.
    const [store = 0] = this.#pilvi.enginePids("store");
    found.set("checkpointer of the store", childNamed(store, "checkpointer"));
    return found;
  }
}

function childNamed(parent: number, name: string): number {
  return childrenOf(parent).find((pid) => commandLine(pid).join(" ").includes(name)) ?? 0;
}

/** A file of the cgroup of an instance, for either version of cgroups. */
export function groupFile(controller: string, id: string, name: string): string {
  return readFileSync(groupPath(controller, id, name), "utf8").trim();
}

function groupPath(controller: string, id: string, name: string): string {
  const root = "/sys/fs/cgroup";
  const parent = readdirSync(root).includes("cgroup.controllers") ? root : join(root, controller);
  return join(parent, "pilvi", id, name);
}

const isFirstVersion = () => findCgroups("/")?.version === "cgroup-v1";

/** The memory of all processes of an instance, in bytes. */
export function memoryOf(id: string): number {
  return Number(groupFile("memory", id, isFirstVersion() ? "memory.usage_in_bytes" : "memory.current"));
}

/** Has an instance end as soon as it takes so much more memory than now, until its next start. */
export function limitFurtherMemory(id: string, bytes: number): void {
  const name = isFirstVersion() ? "memory.limit_in_bytes" : "memory.max";
  writeFileSync(groupPath("memory", id, name), String(memoryOf(id) + bytes));
}

/** A client that does not reconnect by itself. */
export async function cacheClient({ attributes: { connection } }: CacheResource): Promise<Redis> {
  const { hostname: host, port, username = "", password = "" } = connection;
  const client = new Redis({ host, port, username, password, retryStrategy: () => null, lazyConnect: true });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

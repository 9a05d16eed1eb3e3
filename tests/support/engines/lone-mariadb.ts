// MariaDB clusters without a host for the tests of their backups: databases with all kinds of objects, and a client that
// writes all the time.
import { SQL } from "bun";
import { expect } from "bun:test";
import type { MysqlSpec } from "../../../src/contracts/instance-spec.ts";
import { mariadb } from "../../../src/engines/mariadb/index.ts";
import { newId } from "../../../src/lib/ids.ts";
import { nativeVerifier } from "../../../src/lib/verifiers.ts";
import { freePort } from "../pilvi/ports.ts";
import { installedEngine, LoneEngine } from "./lone-engine.ts";

export type Cluster = LoneEngine<MysqlSpec>;

const open: Cluster[] = [];

/** Ends all clusters of a test. */
export async function closeClusters(): Promise<void> {
  for (const cluster of open.splice(0)) await cluster.close();
}

export async function clusterOf(password = "moi"): Promise<Cluster> {
  const spec: MysqlSpec = {
    kind: "mysql",
    id: newId("db"),
    engines: ["mariadb"],
    users: [{ name: "app", verifier: nativeVerifier(password) }],
    exposure: { port: freePort(), scope: "loopback", through: "engine" },
    sleepAfterSeconds: null,
    version: null,
    memoryBytes: 256 * 1024 ** 2,
    cpus: null,
    maxConnections: 20,
    databases: [{ name: "main", owner: "app", desiredState: "present" }],
  };
  const cluster = new LoneEngine(mariadb, await installedEngine("mariadb"), spec);
  open.push(cluster);
  return cluster;
}

export function clientOf({ context }: Cluster, password = "moi"): SQL {
  const { port } = context.spec.exposure;
  return new SQL({
    adapter: "mysql",
    hostname: "127.0.0.1",
    port: port ?? 0,
    username: "app",
    password,
    database: "main",
    max: 1,
    connectionTimeout: 5,
  });
}

export async function withClient<T>(
  cluster: Cluster,
  work: (client: SQL) => Promise<T>,
  password?: string,
): Promise<T> {
  const client = clientOf(cluster, password);
  try {
    return await work(client);
  } finally {
    await client.close({ timeout: 0 });
  }
}

/** The tables of a writer, each with another storage engine. */
export const TABLES = ["innodb", "aria", "myisam"] as const;

/** Makes tables of every storage engine, with a view, a trigger, a routine, an event and large values. */
export async function fill(client: SQL): Promise<void> {
  for (const engine of TABLES)
    await client.unsafe(
      `create table of_${engine} (id int primary key, v varchar(200), key (v)) engine=${engine}`,
    );
  await client.unsafe("create table large (id int primary key, v longblob)");
  await client.unsafe(
    "insert into large select 1, repeat(sha2('large', 512), 65536) union select 2, repeat('x', 1000)",
  );
  await client.unsafe("create table audit (id int auto_increment primary key, v varchar(200))");
  await client.unsafe("create view shown as select id, upper(v) as v from of_innodb");
  await client.unsafe(
    "create trigger noted after insert on large for each row insert into audit (v) values (concat('noted ', new.id))",
  );
  await client.unsafe("create function doubled(n int) returns int deterministic return 2 * n");
  await client.unsafe(
    "create event daily on schedule every 1 day starts '2037-01-01' do insert into audit (v) values ('event')",
  );
  await client.unsafe("create sequence numbers start with 100");
  await client.unsafe("insert into large values (3, 'by trigger')");
}

/** Expects what `fill` made. */
export async function expectFilled(client: SQL): Promise<void> {
  const [large] = await client.unsafe(
    "select sha2(v, 256) = sha2(repeat(sha2('large', 512), 65536), 256) as same from large where id = 1",
  );
  expect(Number(large.same)).toBe(1);
  const [audit] = await client.unsafe("select v from audit");
  expect(audit.v).toBe("noted 3");
  const [doubled] = await client.unsafe("select doubled(21) as answer, nextval(numbers) >= 100 as follows");
  expect([Number(doubled.answer), Number(doubled.follows)]).toEqual([42, 1]);
  const [event] = await client.unsafe(
    "select status from information_schema.events where event_name = 'daily'",
  );
  expect(event.status).toBe("ENABLED");
  await client.unsafe("insert into large values (4, 'by trigger')");
  const [noted] = await client.unsafe("select count(*) as count from audit");
  expect(Number(noted.count)).toBe(2);
}

/** Writes numbered rows to the table of each storage engine in turn, until it is stopped. */
export class Writer {
  /** The time of each acknowledged write, by its number. */
  readonly acknowledged: number[] = [];
  readonly #client: SQL;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(cluster: Cluster) {
    this.#client = clientOf(cluster);
    this.#done = this.#write();
  }

  /** How many writes were acknowledged before the instant. */
  before(instant: string): number {
    return this.acknowledged.filter((at) => at < Date.parse(instant)).length;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
    await this.#client.close({ timeout: 0 });
  }

  async #write(): Promise<void> {
    for (let number = 0; !this.#isOver; number += 1) {
      await this.#client.unsafe(`insert into of_${tableOf(number)} values (${number}, 'value ${number}')`);
      this.acknowledged.push(Date.now());
    }
  }
}

/** Expects the first so many rows of a writer. */
export async function expectWritten(client: SQL, count: number): Promise<void> {
  for (const [index, engine] of TABLES.entries()) {
    const [found] = await client.unsafe(
      `select count(*) as count from of_${engine} where id < ${count} and v = concat('value ', id)`,
    );
    expect(Number(found.count)).toBe(Math.ceil((count - index) / TABLES.length));
  }
}

function tableOf(number: number): (typeof TABLES)[number] {
  return TABLES[number % TABLES.length] ?? "innodb";
}

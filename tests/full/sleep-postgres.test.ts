// Drivers of Postgres at a cluster that sleeps, wakes, and is asked to sleep meanwhile.
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "bun:test";
import { Pool } from "pg";
import postgres from "postgres";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { connectPg, createCluster, loginOf, POSTGRES } from "../support/pilvi/databases.ts";
import { PHP, PhpWorker } from "../support/clients/php.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { Sleeper, writeAuthority } from "../support/pilvi/sleepers.ts";
import { openBun, tryDrivers, type Connections, type Driver } from "../e2e/sleep/drivers.ts";

const MEGABYTE = 1024 ** 2;

type PgPool = ConstructorParameters<typeof Pool>[0];

function openPg(options: PgPool): Connections {
  const pool = new Pool(options);
  // Errors of idle connections in `pg`, which end a process without a listener.
  const lost: Error[] = [];
  pool.on("error", (error) => lost.push(error));
  type Client = Pick<Pool, "query">;
  const ask = async (client: Client, text: string, argument?: string) => {
    // A named statement is prepared once for each connection.
    const values = argument === undefined ? [] : [argument];
    const query = { text, values, name: text, rowMode: "array" as const };
    return (await client.query<unknown[]>(query)).rows[0]?.[0];
  };
  return {
    ask: (sql, argument) => ask(pool, sql, argument),
    async transaction(work) {
      const client = await pool.connect();
      await client.query("begin");
      await work((sql, argument) => ask(client, sql, argument));
      await client.query("commit");
      client.release();
    },
    async close() {
      await pool.end();
      for (const error of lost) expect(error).toMatchObject({ code: "57P01" });
    },
  };
}

function openPostgresJs(options: postgres.Options<Record<string, postgres.PostgresType>>): Connections {
  const sql = postgres({ ...options, onnotice: () => undefined });
  const ask = async (on: typeof sql | postgres.TransactionSql, text: string, argument?: string) => {
    const rows = await on.unsafe(text, argument === undefined ? [] : [argument], { prepare: true }).values();
    return rows[0]?.[0];
  };
  return {
    ask: (text, argument) => ask(sql, text, argument),
    async transaction(work) {
      await sql.begin(async (tx) => await work((text, argument) => ask(tx, text, argument)));
    },
    close: () => sql.end(),
  };
}

const DRIVERS: Driver[] = [
  {
    name: "pg",
    application: "shop",
    open: (login, _, max) => openPg({ ...login, max, application_name: "shop" }),
  },
  {
    name: "pg, with TLS and channel binding",
    application: null,
    open: (login, ca, max) => openPg({ ...login, max, ssl: { ca }, enableChannelBinding: true } as PgPool),
    isSecure: true,
  },
  {
    name: "postgres.js",
    application: "postgres.js",
    open: ({ user: username, ...login }, _, max) => openPostgresJs({ ...login, username, max }),
  },
  {
    name: "postgres.js, with TLS",
    application: "postgres.js",
    open: ({ user: username, ...login }, ca, max) => openPostgresJs({ ...login, username, max, ssl: { ca } }),
    isSecure: true,
  },
  { name: "Bun.SQL", application: null, open: (login, _, max) => openBun("postgres", login, max) },
  {
    name: "Bun.SQL, with TLS",
    application: null,
    open: (login, ca, max) => openBun("postgres", login, max, ca),
    isSecure: true,
  },
];

const DIALECT = {
  echo: "select $1::text",
  insert: "insert into visits values ($1)",
  pause: "select pg_sleep(0.2)",
  wrong: { message: 'password authentication failed for user "app"' },
};

let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;
let sleeper: Sleeper;
let authority: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  cluster = await createCluster(pilvi, { type: POSTGRES });
  sleeper = new Sleeper(pilvi, cluster);
  authority = await writeAuthority(pilvi);
});
afterAll(() => pilvi.close());

tryDrivers(DRIVERS, DIALECT, () => ({ cluster, sleeper, authority }));

test("pg: a listening client gets the sleep's error, listens again, and receives notifications", async () => {
  const listener = await connectPg(cluster);
  await listener.query("listen news");
  const lost = new Promise((resolve) => listener.once("error", resolve));
  await sleeper.sleep();
  expect(await lost).toMatchObject({ code: "57P01" });
  const [again, other] = await Promise.all([connectPg(cluster), connectPg(cluster)]);
  const received = new Promise((resolve) => again.once("notification", ({ payload }) => resolve(payload)));
  await again.query("listen news");
  await other.query("notify news, 'moi'");
  expect(await received).toBe("moi");
  await Promise.all([again.end(), other.end()]);
});

test("postgres.js: listens again by itself, and cancels", async () => {
  const { user: username, ...login } = loginOf(cluster);
  const sql = postgres({ ...login, username, max: 2, onnotice: () => undefined });
  const received: string[] = [];
  let listens = 0;
  await sql.listen(
    "news",
    (payload) => received.push(payload),
    () => listens++,
  );
  // The client reconnects as soon as it is disconnected, so polling the processes may miss the sleep.
  expect((await sleeper.suspend()).status).toBe(200);
  await until("it listens again", () => listens === 2);
  await sql.notify("news", "moi");
  await until("it receives the notification", () => received.length === 1);
  const slow = sql`select pg_sleep(100)`;
  const ended = slow.execute().catch((error: unknown) => error);
  const isSlow = "select 1 from pg_stat_activity where wait_event = 'PgSleep'";
  await until("the query runs", async () => (await sql.unsafe(isSlow)).length === 1);
  slow.cancel();
  expect(await ended).toMatchObject({ code: "57014" });
  await sql.end();
});

test("pg: several statements at once, types, and an error that the session outlives", async () => {
  await sleeper.sleep();
  const client = await connectPg(cluster);
  const sets = (await client.query("select 1 as n; select 2 as n")) as unknown as { rows: unknown[] }[];
  expect(sets.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  await expect(client.query("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
  const bytes = Buffer.alloc(3 * MEGABYTE, "\u0000\u0001\u00ff", "latin1");
  const { rows } = await client.query<{ b: Buffer; n: null }>("select $1::bytea as b, null as n", [bytes]);
  expect([rows[0]?.b.equals(bytes), rows[0]?.n]).toEqual([true, null]);
  await client.end();
});

test("pg: a login to a missing database wakes the cluster, and is reported as the wake's reason", async () => {
  const refused = await sleeper.wokenBy({ user: "app", database: "nowhere", application: "lost" }, () =>
    connectPg(cluster, { database: "nowhere", application_name: "lost" }).catch((error: unknown) => error),
  );
  expect(refused).toMatchObject({ code: "3D000" });
});

test("queries that a client sends behind its login, before an answer, are answered in order", async () => {
  const sql = postgres({ ...loginOf(cluster), username: "app", max: 1 });
  await sleeper.sleep();
  const answers = Array.from({ length: 100 }, (_, index) => sql`select ${index}::int as n`.values());
  expect((await Promise.all(answers)).map(([row]) => row?.[0])).toEqual(answers.map((_, index) => index));
  await sql.end();
});

describe.skipIf(PHP === null)("PDO of PHP, where it can be had", () => {
  let php: PhpWorker;
  beforeEach(() => {
    php = new PhpWorker();
  });
  afterEach(() => php.close());

  const open = (password = loginOf(cluster).password, options = "sslmode=disable") => {
    const { host, port, user, database } = loginOf(cluster);
    const dsn = `pgsql:host=${host};port=${port};dbname=${database};${options}`;
    return php.run(`$db = new PDO('${dsn}', '${user}', '${password}'); return 'open';`);
  };
  const question = "$s = $db->prepare('select ?::int + 1'); $s->execute([41]); return $s->fetchColumn();";

  test.each(["sslmode=disable", "sslmode=require"])("wakes it with %s", async (options) => {
    await sleeper.wokenBy({ user: "app", database: "main", application: null }, () =>
      open(undefined, options),
    );
    expect(await php.run(question)).toBe(42);
  });

  test("gets an error for a wrong password, which wakes no cluster", async () => {
    const refused = await sleeper.sleepsThrough(() => open("wrong").catch(String));
    expect(refused).toContain('password authentication failed for user "app"');
  });

  test("loses its connection in a sleep, with an error that frameworks know, and connects anew", async () => {
    await open();
    expect(await php.run(question)).toBe(42);
    await sleeper.sleep();
    await expect(php.run(question)).rejects.toThrow("no connection to the server");
    await open();
    expect(await php.run(question)).toBe(42);
  });

  test("delays a sleep in the middle of a transaction", async () => {
    await open();
    await sleeper.sleepsAfter(async (ask) => {
      await php.run("$db->beginTransaction(); $db->query('create table by_pdo as select 1'); return 0;");
      ask();
      await php.run("$db->query('select pg_sleep(0.2)'); return $db->commit();");
    });
    await open();
    expect(await php.run("return $db->query('select count(*) from by_pdo')->fetchColumn();")).toBe(1);
  });
});

// Drivers and programs of MySQL at a cluster that sleeps, wakes, and is asked to sleep meanwhile.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mariadb from "mariadb";
import mysql from "mysql2/promise";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  createCluster,
  createDatabase,
  firstOfMysql,
  loginOf,
  MYSQL,
  MYSQL_CONNECT_TIMEOUT_MS,
} from "../support/pilvi/databases.ts";
import { PHP, PhpWorker } from "../support/clients/php.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { runProgram } from "../support/clients/programs.ts";
import { Sleeper, writeAuthority } from "../support/pilvi/sleepers.ts";
import { TerminalProgram } from "../support/pilvi/terminal.ts";
import { openBun, tryDrivers, type Connections, type Driver, type Login } from "../e2e/sleep/drivers.ts";

const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-mysql-"));
const PATIENCE = { connectTimeout: MYSQL_CONNECT_TIMEOUT_MS };

type Asked<Pool extends { query: unknown; execute: unknown }> = Pick<Pool, "query" | "execute">;

async function askMysql2(on: Asked<mysql.Pool>, sql: string, argument?: string): Promise<unknown> {
  const query = { sql, rowsAsArray: true };
  const [rows] = await (argument === undefined ? on.query(query) : on.execute(query, [argument]));
  return Array.isArray(rows) ? (rows as unknown as unknown[][])[0]?.[0] : undefined;
}

async function askMariadb(on: Asked<mariadb.Pool>, sql: string, argument?: string): Promise<unknown> {
  const query = { sql, rowsAsArray: true };
  const rows: unknown = await (argument === undefined ? on.query(query) : on.execute(query, [argument]));
  return Array.isArray(rows) ? (rows as unknown[][])[0]?.[0] : undefined;
}

function openMysql2(options: mysql.PoolOptions): Connections {
  const pool = mysql.createPool({ ...options, ...PATIENCE });
  return {
    ask: (sql, argument) => askMysql2(pool, sql, argument),
    async transaction(work) {
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      await work((sql, argument) => askMysql2(connection, sql, argument));
      await connection.commit();
      connection.release();
    },
    close: () => pool.end(),
  };
}

function openMariadb(options: mariadb.PoolConfig): Connections {
  const pool = mariadb.createPool({
    ...options,
    ...PATIENCE,
    acquireTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    minimumIdle: 0,
  });
  return {
    ask: (sql, argument) => askMariadb(pool, sql, argument),
    async transaction(work) {
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      await work((sql, argument) => askMariadb(connection, sql, argument));
      await connection.commit();
      await connection.release();
    },
    close: () => pool.end(),
  };
}

const DRIVERS: Driver[] = [
  {
    name: "mysql2",
    application: "Node-MySQL-2",
    open: (login, _, connectionLimit) => openMysql2({ ...login, connectionLimit }),
  },
  {
    name: "mysql2, with TLS",
    application: "Node-MySQL-2",
    open: (login, ca, connectionLimit) => openMysql2({ ...login, connectionLimit, ssl: { ca } }),
    isSecure: true,
  },
  {
    name: "mariadb",
    application: "MariaDB connector/Node",
    open: (login, _, connectionLimit) => openMariadb({ ...login, connectionLimit }),
    connect: (login) => mariadb.createConnection({ ...login, ...PATIENCE }),
  },
  {
    name: "mariadb, with TLS",
    application: "MariaDB connector/Node",
    open: (login, ca, connectionLimit) => openMariadb({ ...login, connectionLimit, ssl: { ca } }),
    connect: (login, ca) => mariadb.createConnection({ ...login, ...PATIENCE, ssl: { ca } }),
    isSecure: true,
  },
  { name: "Bun.SQL", application: "Bun", open: (login, _, max) => openBun("mysql", login, max) },
  {
    name: "Bun.SQL, with TLS",
    application: "Bun",
    open: (login, ca, max) => openBun("mysql", login, max, ca),
    isSecure: true,
  },
];

const DIALECT = {
  echo: "select concat(?, '')",
  insert: "insert into visits values (?)",
  pause: "select sleep(0.2)",
  wrong: { errno: 1045, message: expect.stringContaining("Access denied for user 'app'") },
};

let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;
let sleeper: Sleeper;
let authority: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  cluster = await createCluster(pilvi, { type: MYSQL });
  sleeper = new Sleeper(pilvi, cluster);
  authority = await writeAuthority(pilvi);
});
afterAll(async () => {
  await pilvi.close();
  rmSync(folder, { recursive: true });
});

function optionsOf({ host, port, user }: Login): string[] {
  return [`--host=${host}`, `--port=${port}`, `--user=${user}`];
}

/** Runs a program of MySQL, and returns its output. */
function run(program: string, ...options: string[]): Promise<string> {
  const login = loginOf(cluster);
  return runProgram([program, ...optionsOf(login), ...options], { MYSQL_PWD: login.password });
}

tryDrivers(DRIVERS, DIALECT, () => ({ cluster, sleeper, authority }));

test("mysql2: several statements at once, and the killing of an own query after a wake", async () => {
  await sleeper.sleep();
  const connection = await connectMysql(cluster, { multipleStatements: true });
  const other = await connectMysql(cluster);
  const [sets] = await connection.query<mysql.RowDataPacket[][]>("select 1 as n; select 2 as n");
  expect(sets.map(([row]) => row?.n)).toEqual([1, 2]);
  const slow = connection.query("select sleep(100)").catch((error: unknown) => error);
  await until("the query runs", async () => {
    const sql = "select count(*) from information_schema.processlist where state = 'User sleep'";
    return (await firstOfMysql(other, sql)) === 1;
  });
  await other.query("kill query ?", [connection.threadId]);
  expect(await slow).toMatchObject({ errno: 1317 });
  await Promise.all([connection.end(), other.end()]);
});

test("mysql2: an idle connection is closed, as after a wait_timeout", async () => {
  const connection = await connectMysql(cluster);
  const lost = new Promise((resolve) => connection.on("error", resolve));
  await sleeper.sleep();
  expect(await lost).toMatchObject({ code: "PROTOCOL_CONNECTION_LOST" });
  connection.destroy();
});

test.each(["query", "execute"] as const)(
  "mysql2: a transaction that has touched no table, begun by %s, is served to its end while others are held",
  async (kind) => {
    const connection = await connectMysql(cluster);
    const say = (sql: string) => (kind === "query" ? connection.query(sql) : connection.execute(sql));
    const lost = new Promise((resolve) => connection.on("error", resolve));
    await sleeper.sleepsAfter(async (ask) => {
      await say("start transaction");
      ask();
      await until("others are held", async () => (await sleeper.state()).state === "draining");
      await say("select 1");
      await say("commit");
    });
    expect(await lost).toMatchObject({ code: "PROTOCOL_CONNECTION_LOST" });
  },
);

test("mysql2: a login to a missing database wakes the cluster, and is reported as the wake's reason", async () => {
  const refused = await sleeper.wokenBy(
    { user: "app", database: "nowhere", application: "Node-MySQL-2" },
    () => connectMysql(cluster, { database: "nowhere" }).catch((error: unknown) => error),
  );
  expect(refused).toMatchObject({ message: expect.stringContaining("nowhere") as string });
});

describe("the mariadb program", () => {
  const waker = { user: "app", database: "main", application: "mysql" };
  test.each(["--skip-ssl", "--ssl", "--ssl-ca"])("wakes it with %s", async (tls) => {
    const option = tls === "--ssl-ca" ? [`${tls}=${authority}`, "--ssl-verify-server-cert"] : [tls];
    const sql = "show status like 'ssl_cipher'; select 6 * 7";
    const printed = await sleeper.wokenBy(waker, () => run("mariadb", ...option, "-NBe", sql, "main"));
    expect(printed).toContain("42\n");
  });

  test("goes on by itself after a sleep, and Ctrl-C kills the query", async () => {
    const login = loginOf(cluster);
    const terminal = new TerminalProgram(["mariadb", ...optionsOf(login), "main"], {
      MYSQL_PWD: login.password,
    });
    try {
      terminal.type("select 'first';");
      await terminal.shows("1 row in set");
      await sleeper.sleep();
      terminal.type("select 'lost';");
      await terminal.shows("Lost connection");
      terminal.type("select 6 * 7 as answer;");
      await terminal.shows("Trying to reconnect");
      expect(await terminal.shows("1 row in set")).toContain("42");
      terminal.type("select sleep(100);");
      const isSlow = "select count(*) from information_schema.processlist where state = 'User sleep'";
      await until("the query runs", async () => (await run("mariadb", "-NBe", isSlow)) === "1\n");
      terminal.interrupt();
      await terminal.shows("Query execution was interrupted");
      terminal.type("select 'again';");
      await terminal.shows("1 row in set");
    } finally {
      await terminal.close();
    }
  });

  test("loads a local file, and dumps and restores, at a sleeping cluster", async () => {
    const file = join(folder, "numbers.tsv");
    writeFileSync(file, Array.from({ length: 20_000 }, (_, index) => `${index}\té東 ${index}\n`).join(""));
    await run("mariadb", "-e", "create table numbers (n int primary key, t text)", "main");
    const load = `load data local infile '${file}' into table numbers`;
    await sleeper.wokenBy(waker, () => run("mariadb", "--local-infile", "-e", load, "main"));
    await createDatabase(pilvi, cluster.id, "copy");
    const dump = join(folder, "main.sql");
    const dumping = () => run("mariadb-dump", "--single-transaction", `--result-file=${dump}`, "main");
    await sleeper.wokenBy({ ...waker, database: null, application: "mysqldump" }, dumping);
    await sleeper.wokenBy({ ...waker, database: "copy" }, () =>
      run("mariadb", "-e", `source ${dump}`, "copy"),
    );
    const sum = "select count(*), sum(crc32(concat(n, t))) from numbers";
    const restored = await run("mariadb", "-NBe", sum, "copy");
    expect(restored).toStartWith("20000\t");
    expect(restored).toBe(await run("mariadb", "-NBe", sum, "main"));
  });
});

describe.skipIf(PHP === null)("PDO of PHP, where it can be had", () => {
  const question = "$s = $db->prepare('select ? + 1'); $s->execute([41]); return (int)$s->fetchColumn();";
  let php: PhpWorker;
  beforeEach(() => {
    php = new PhpWorker();
  });
  afterEach(() => php.close());

  const open = (account: { password?: string; isSecure?: boolean } = {}) => {
    const { host, port, user, password, database } = { ...loginOf(cluster), ...account };
    const tls = account.isSecure === true ? `PDO::MYSQL_ATTR_SSL_CA => '${authority}'` : "";
    const dsn = `mysql:host=${host};port=${port};dbname=${database}`;
    return php.run(`$db = new PDO('${dsn}', '${user}', '${password}', [${tls}]); return 'open';`);
  };

  test.each([false, true])("wakes it, with TLS: %p", async (isSecure) => {
    const waker = { user: "app", database: "main", application: "mysqlnd" };
    await sleeper.wokenBy(waker, () => open({ isSecure }));
    expect(await php.run(question)).toBe(42);
    const cipher = "return $db->query(\"show status like 'ssl_cipher'\")->fetchColumn(1);";
    expect(typeof (await php.run(cipher))).toBe("string");
  });

  test("gets an error for a wrong password, which wakes no cluster", async () => {
    const refused = await sleeper.sleepsThrough(() => open({ password: "wrong" }).catch(String));
    expect(refused).toContain("Access denied for user 'app'");
  });

  test("loses its connection in a sleep, with an error that frameworks know, and connects anew", async () => {
    await open();
    expect(await php.run(question)).toBe(42);
    await sleeper.sleep();
    await expect(php.run(question)).rejects.toThrow("server has gone away");
    await open();
    expect(await php.run(question)).toBe(42);
  });

  test("delays a sleep in the middle of a transaction", async () => {
    await open();
    await php.run("$db->query('create table by_pdo (t text)'); return 0;");
    await sleeper.sleepsAfter(async (ask) => {
      await php.run("$db->beginTransaction(); $db->query(\"insert into by_pdo values ('a')\"); return 0;");
      ask();
      await php.run("$db->query('select sleep(0.2)')->fetchAll(); return $db->commit();");
    });
    await open();
    expect(await php.run("return (int)$db->query('select count(*) from by_pdo')->fetchColumn();")).toBe(1);
  });
});

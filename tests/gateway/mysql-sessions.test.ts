// Sessions of real clients at a MariaDB behind the gateway: commands, a change of user, and the end.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { Readable } from "node:stream";
import * as mariadb from "mariadb";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { userName } from "../../src/lib/libc.ts";
import { TestMariaDb } from "../support/engines/mariadb.ts";
import { MysqlGateway } from "../support/gateway/mysql-gateway.ts";
import { handshakeResponse, nativeToken, RawMysql, saltOf } from "../support/wire/mysql-raw.ts";
import { MYSQL_CONNECT_TIMEOUT_MS } from "../support/pilvi/databases.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { runProgram } from "../support/clients/programs.ts";

const MEGABYTE = 1024 ** 2;
const PATIENCE = { connectTimeout: MYSQL_CONNECT_TIMEOUT_MS };
/** The user as which the engine knows this process by its socket. */
const ADMIN = userName(process.getuid?.() ?? 0) ?? "";

let server: TestMariaDb;
let gateway: MysqlGateway;
let account: { host: string; port: number; user: string; password: string; database: string };
let opened: Connection[] = [];

beforeAll(async () => {
  server = await TestMariaDb.start();
  await server.admin("create database shop");
  for (const user of ["app", "other"]) {
    await server.admin(`create user ${user}@'%' identified by '${user}-secret'`);
    await server.admin(`grant all on shop.* to ${user}@'%'`);
  }
});
afterAll(() => server.stop());

beforeEach(async () => {
  gateway = new MysqlGateway(server);
  account = { host: "127.0.0.1", port: gateway.port, user: "app", password: "app-secret", database: "shop" };
  await gateway.sleep();
});
afterEach(async () => {
  for (const each of opened) each.destroy();
  opened = [];
  await gateway.close();
  expect(gateway.faults).toEqual([]);
});

async function open(overrides: Partial<mysql.ConnectionOptions> = {}): Promise<Connection> {
  const connection = await mysql.createConnection({ ...account, ...PATIENCE, ...overrides });
  opened.push(connection);
  connection.on("error", () => undefined);
  return connection;
}

async function one(connection: Connection, query: string): Promise<unknown> {
  const [rows] = await connection.query<RowDataPacket[]>(query);
  return Object.values(rows[0] ?? {})[0];
}

describe("clients wake a sleeping engine", () => {
  afterEach(() => expect(gateway.wakes).toHaveLength(1));

  test("mysql2, with a prepared statement", async () => {
    const connection = await open();
    const [rows] = await connection.execute<RowDataPacket[]>("select ? + 1 as sum", [41]);
    expect(Number(rows[0]?.sum)).toBe(42);
  });

  test("mariadb, with a batch", async () => {
    const connection = await mariadb.createConnection({ ...account, ...PATIENCE });
    await connection.query("create or replace table numbers (n int)");
    await connection.batch("insert into numbers values (?)", [[1], [2], [3]]);
    const [{ total }] = await connection.query("select sum(n) as total from numbers");
    expect(Number(total)).toBe(6);
    await connection.end();
  });

  test("Bun.SQL, in a transaction", async () => {
    const { host, ...rest } = account;
    const db = new SQL({ adapter: "mysql", hostname: host, username: rest.user, max: 1, ...rest });
    const [row] = await db.begin(async (transaction) => await transaction`select ${7} as n`);
    expect(Number(row.n)).toBe(7);
    await db.close();
  });

  test("the CLI, with a statement", async () => {
    const { command, env } = server.cli;
    const where = ["-h127.0.0.1", `-P${gateway.port}`, "-uapp", "-papp-secret", "shop"];
    const printed = await runProgram(
      [command, "--no-defaults", ...where, "-NBe", "select 6 * 7; select 1"],
      env,
    );
    expect(printed).toBe("42\n1\n");
  });

  test("the CLI with compression, which is not negotiated", async () => {
    const { command, env } = server.cli;
    const where = ["-h127.0.0.1", `-P${gateway.port}`, "-uapp", "-papp-secret", "--compress"];
    const status =
      "select variable_value from information_schema.session_status where variable_name = 'compression'";
    expect(await runProgram([command, "--no-defaults", ...where, "-NBe", status], env)).toBe("OFF\n");
  });

  test("drivers with compression, which is not negotiated", async () => {
    const connection = await open({ compress: true } as Partial<mysql.ConnectionOptions>);
    expect(String(await one(connection, "select repeat('ab', 50000)"))).toHaveLength(100_000);
    const other = await mariadb.createConnection({ ...account, ...PATIENCE, compress: true });
    expect(await other.query("select 1 as one")).toMatchObject([{ one: 1 }]);
    await other.end();
  });
});

describe("a session passes everything through unchanged", () => {
  // The gateway has seen the end of every answered command, so it can suspend at once.
  afterEach(() => gateway.sleep());

  test("several statements at once", async () => {
    const connection = await open({ multipleStatements: true });
    const [results] = await connection.query<RowDataPacket[][]>("select 1 as n; select 2 as n");
    expect(results.map(([row]) => row?.n)).toEqual([1, 2]);
  });

  test.each([7.99, 8, 25])("a value of %d MB", async (size) => {
    const connection = await open();
    const bytes = Buffer.alloc(Math.floor(size * MEGABYTE), "abcdefg");
    const [rows] = await connection.query<RowDataPacket[]>("select ? as same", [bytes]);
    expect(Buffer.from(rows[0]?.same as string).equals(bytes)).toBe(true);
  });

  test("a file that is loaded from the client, with any bytes in it", async () => {
    const connection = await open();
    await connection.query("create or replace table loaded (line varbinary(100))");
    // Each packet begins with the byte of the command that changes the user.
    const packets = Array.from({ length: 700 }, (_, index) => Buffer.from(`\u0011row ${index}\n`));
    await connection.query({
      sql: "load data local infile 'lines' into table loaded",
      infileStreamFactory: () => Readable.from(packets),
    } as mysql.QueryOptions);
    expect(await one(connection, "select count(*) from loaded where line like '\u0011row %'")).toBe(700);
  });

  test("a file that the engine refuses fails with its error", async () => {
    await server.admin("set global local_infile = 0");
    try {
      const connection = await open();
      await connection.query("create or replace table loaded (line varbinary(100))");
      const load = connection.query({
        sql: "load data local infile 'lines' into table loaded",
        infileStreamFactory: () => Readable.from([Buffer.from("row\n")]),
      } as mysql.QueryOptions);
      await expect(load).rejects.toMatchObject({ errno: 4166 });
    } finally {
      await server.admin("set global local_infile = 1");
    }
  });

  test("a session that is reset", async () => {
    const connection = await open();
    await connection.query("set @mark = 1");
    await (connection as unknown as { reset(): Promise<void> }).reset();
    expect(await one(connection, "select @mark")).toBeNull();
  });
});

describe("a session may change its user", () => {
  test("with that user's password", async () => {
    const connection = await open();
    await connection.changeUser({ user: "other", password: "other-secret" });
    expect(await one(connection, "select current_user()")).toBe("other@%");
    const another = await mariadb.createConnection({ ...account, ...PATIENCE });
    await another.changeUser({ user: "other", password: "other-secret" });
    expect(await another.query("select current_user() as who")).toMatchObject([{ who: "other@%" }]);
    await another.end();
  });

  test("to a user that was made by SQL just before, and never to a user that is not there", async () => {
    const connection = await open();
    await server.admin("create user fresh identified by 'fresh-secret'");
    await server.admin("grant select on shop.* to fresh");
    try {
      await connection.changeUser({ user: "fresh", password: "fresh-secret" });
      expect(await one(connection, "select current_user()")).toBe("fresh@%");
      const change = connection.changeUser({ user: "nobody", password: "fresh-secret" });
      await expect(change).rejects.toMatchObject({ errno: 1047 });
    } finally {
      await server.admin("drop user fresh");
    }
  });

  test("not with a wrong password", async () => {
    const connection = await open();
    const change = connection.changeUser({ user: "other", password: "app-secret" });
    await expect(change).rejects.toMatchObject({ errno: 1045 });
  });

  test("never to a user that the engine authenticates by the kernel", async () => {
    // The engine alone would accept it, since the gateway is this process.
    const raw = new RawMysql(server.socket);
    const salt = saltOf((await raw.expectPacket()).payload);
    raw.send(1, handshakeResponse({ user: "app", proof: nativeToken("app-secret", salt) }));
    expect((await raw.expectPacket()).payload[0]).toBe(0);
    raw.send(0, changeUser(ADMIN));
    const { sequence, payload } = await raw.expectPacket();
    expect(payload[0]).toBe(0xfe);
    raw.send(sequence + 1, Buffer.alloc(0));
    expect((await raw.expectPacket()).payload[0]).toBe(0);
    raw.close();
    for (const cuts of [[], [4], [5], [4, 5], [7]]) expect(await changedUser(ADMIN, cuts)).toBe(1047);
  });
});

/** The error that ends a change of user without a password, sent in pieces. */
async function changedUser(user: string, cuts: number[]): Promise<number> {
  const raw = new RawMysql(gateway.port);
  const salt = saltOf((await raw.expectPacket()).payload);
  raw.send(1, handshakeResponse({ user: "app", proof: nativeToken("app-secret", salt) }));
  expect((await raw.expectPacket()).payload[0]).toBe(0);
  const payload = changeUser(user);
  const bytes = Buffer.concat([Buffer.of(payload.length, 0, 0, 0), payload]);
  const ends = [...cuts, bytes.length];
  let start = 0;
  for (const end of ends) {
    await raw.write(bytes.subarray(start, end));
    await gateway.turned();
    start = end;
  }
  const answer = (await raw.expectPacket()).payload;
  raw.close();
  return answer[0] === 0xff ? answer.readUInt16LE(1) : 0;
}

/** The command that changes the user, in utf8mb4, without a password. */
function changeUser(user: string): Buffer {
  return Buffer.from(`\u0011${user}\0\0\0\u002d\0mysql_native_password\0`, "latin1");
}

test("the gateway knows the client of an engine's session until the session ends", async () => {
  const connection = await open();
  const id = Number(await one(connection, "select connection_id()"));
  expect(gateway.addressesOf([id, id + 1])).toEqual(["127.0.0.1", null]);
  connection.destroy();
  await until("its client is forgotten", () => gateway.addressesOf([id])[0] === null);
});

describe("an engine that goes to sleep under idle clients", () => {
  test("a driver sees its connection end, and its next connection wakes the engine", async () => {
    const connection = await open();
    const ended = new Promise<{ code: string }>((resolve) => connection.on("error", resolve));
    await gateway.sleep();
    expect((await ended).code).toBe("PROTOCOL_CONNECTION_LOST");
    expect(await one(await open(), "select 1")).toBe(1);
    expect(gateway.wakes).toHaveLength(2);
  });

  test.each(["mysql2", "mariadb", "Bun.SQL"])("a pool of %s goes on without an error", async (kind) => {
    const pool = poolOf(kind);
    for (let round = 1; round <= 3; round++) {
      expect(await pool.ask()).toBe(1);
      expect(gateway.wakes).toHaveLength(round);
      await gateway.sleep();
    }
    await pool.close();
  });
});

function poolOf(kind: string): { ask(): Promise<unknown>; close(): Promise<void> } {
  if (kind === "mysql2") {
    const pool = mysql.createPool({ ...account, ...PATIENCE, connectionLimit: 1 });
    return {
      ask: async () => (await pool.query<RowDataPacket[]>("select 1 as one"))[0][0]?.one,
      close: () => pool.end(),
    };
  }
  if (kind === "mariadb") {
    const pool = mariadb.createPool({
      ...account,
      ...PATIENCE,
      connectionLimit: 1,
      minimumIdle: 0,
      minDelayValidation: 0,
      acquireTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    });
    return { ask: async () => (await pool.query("select 1 as one"))[0].one, close: () => pool.end() };
  }
  const { host, user, ...rest } = account;
  const db = new SQL({ adapter: "mysql", hostname: host, username: user, max: 1, ...rest });
  return { ask: async () => (await db`select 1 as one`)[0].one, close: () => db.close() };
}

test("a thousand clients of a sleeping engine wake it once", async () => {
  await server.admin("set global max_connections = 1100");
  gateway.onWake = () => undefined;
  const { port } = gateway;
  const logins = Array.from({ length: 1_000 }, async () => {
    const raw = new RawMysql(port);
    const salt = saltOf((await raw.expectPacket()).payload);
    raw.send(1, handshakeResponse({ user: "app", proof: nativeToken("app-secret", salt) }));
    const { payload } = await raw.expectPacket();
    raw.close();
    return payload[0];
  });
  await until("all are there", () => gateway.clients.size === 1_000);
  await until("it is asked for", () => gateway.wakes.length > 0);
  gateway.become("starting");
  gateway.become("running");
  expect(new Set(await Promise.all(logins))).toEqual(new Set([0]));
  expect(new Set(gateway.wakes.map(({ address }) => address)).size).toBe(1);
});

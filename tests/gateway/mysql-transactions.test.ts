// Transactions at a MariaDB behind the gateway, also transactions that have touched no table: none of them is cut off.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import * as mariadb from "mariadb";
import mysql, { type Connection } from "mysql2/promise";
import { Answers } from "../../src/gateway/mysql/answers.ts";
import { DEPRECATE_EOF } from "../../src/gateway/mysql/capabilities.ts";
import { TestMariaDb } from "../support/engines/mariadb.ts";
import { MysqlGateway } from "../support/gateway/mysql-gateway.ts";
import { framed, handshakeResponse, nativeToken, RawMysql, saltOf } from "../support/wire/mysql-raw.ts";
import { MYSQL_CONNECT_TIMEOUT_MS } from "../support/pilvi/databases.ts";
import { until } from "../support/pilvi/pilvi.ts";

/** A delay in which a drain would find the engine idle. */
const SHORT_MS = 200;

let server: TestMariaDb;
let gateway: MysqlGateway;
let account: { host: string; port: number; user: string; password: string; database: string };
let opened: Connection[] = [];

beforeAll(async () => {
  server = await TestMariaDb.start();
  await server.admin("create database shop");
  await server.admin("create user app@'%' identified by 'app-secret'");
  await server.admin("grant all on shop.* to app@'%'");
  await server.admin("create table shop.orders (n int primary key) engine = innodb");
});
afterAll(() => server.stop());

beforeEach(async () => {
  gateway = new MysqlGateway(server);
  account = { host: "127.0.0.1", port: gateway.port, user: "app", password: "app-secret", database: "shop" };
  await gateway.learnUsers();
});
afterEach(async () => {
  for (const each of opened) each.destroy();
  opened = [];
  await gateway.close();
  expect(gateway.faults).toEqual([]);
});

async function open(overrides: Partial<mysql.ConnectionOptions> = {}): Promise<Connection> {
  const connection = await mysql.createConnection({
    ...account,
    multipleStatements: true,
    connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    ...overrides,
  });
  opened.push(connection);
  connection.on("error", () => undefined);
  return connection;
}

/** Whether the gateway says that its clients can be disconnected. */
async function isIdle(withinMs: number): Promise<boolean> {
  const end = await gateway.drain(withinMs);
  gateway.become("running");
  return end === "drained";
}

/** Runs statements one by one on a session of its own. */
interface Session {
  run(statement: string): Promise<unknown>;
  close(): Promise<unknown>;
}

const SESSIONS: Record<string, () => Promise<Session>> = {
  async "mysql2, in text"() {
    const connection = await open();
    return { run: (statement) => connection.query(statement), close: () => connection.end() };
  },
  async "mysql2, prepared"() {
    const connection = await open();
    return { run: (statement) => connection.execute(statement), close: () => connection.end() };
  },
  async "mariadb, prepared"() {
    const connection = await mariadb.createConnection({
      ...account,
      connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    });
    return { run: (statement) => connection.execute(statement), close: () => connection.end() };
  },
  async "Bun.SQL"() {
    const { host, user, ...rest } = account;
    const db = new SQL({ adapter: "mysql", hostname: host, username: user, max: 1, ...rest });
    const session = await db.reserve();
    return {
      run: (statement) => session.unsafe(statement),
      close: async () => {
        await session.release();
        await db.close();
      },
    };
  },
};

describe.each(Object.entries(SESSIONS))("%s", (_, begin) => {
  test.each(["start transaction", "start transaction read only", "set autocommit = 0; select * from orders"])(
    "after '%s' it is not idle until the transaction ends",
    async (statements) => {
      const session = await begin();
      await session.run("select 1");
      expect(await isIdle(10_000)).toBe(true);
      for (const statement of statements.split("; ")) await session.run(statement);
      expect(await isIdle(SHORT_MS)).toBe(false);
      await session.run("select 1");
      await expect(session.run("select nothing")).rejects.toThrow();
      expect(await isIdle(SHORT_MS)).toBe(false);
      await session.run("commit");
      expect(await isIdle(10_000)).toBe(true);
      await session.close();
    },
  );
});

describe("a transaction ends", () => {
  test("when its session is reset", async () => {
    const connection = await open();
    await connection.query("start transaction");
    expect(await isIdle(SHORT_MS)).toBe(false);
    await (connection as unknown as { reset(): Promise<void> }).reset();
    expect(await isIdle(10_000)).toBe(true);
  });

  test("when its session changes its user", async () => {
    const connection = await open();
    await connection.query("start transaction");
    expect(await isIdle(SHORT_MS)).toBe(false);
    await connection.changeUser({ user: "app", password: "app-secret" });
    expect(await isIdle(10_000)).toBe(true);
  });

  test("when its session is closed", async () => {
    const connection = await open();
    await connection.query("start transaction");
    expect(await isIdle(SHORT_MS)).toBe(false);
    connection.destroy();
    expect(await isIdle(10_000)).toBe(true);
  });
});

test("a drain lets a client end its transaction, and completes after it", async () => {
  const connection = await open();
  await connection.query("start transaction");
  const drained = gateway.drain(60_000);
  await connection.query("insert into orders values (1)");
  await connection.query("delete from orders");
  await connection.query("commit");
  expect(await drained).toBe("drained");
});

test("a transaction that begins while clients are held already goes on", async () => {
  const holder = await open({ socketPath: server.socket });
  await holder.query("do get_lock('held', 0)");
  const connection = await open();
  const begun = connection.query("do get_lock('held', 60); start transaction");
  await until("the engine is at it", async () => {
    const rows = await server.admin("select 1 from information_schema.processlist where state = 'User lock'");
    return rows.length === 1;
  });
  const drained = gateway.drain(60_000);
  await holder.query("do release_lock('held')");
  await begun;
  await connection.query("commit");
  expect(await drained).toBe("drained");
});

function query(text: string): Buffer {
  return Buffer.from(`\u0003${text}`);
}

/** The statement, the packets of its answer with and without EOF, and whether a transaction is open then. */
const CONVERSATION: [command: Buffer, packets: number, packetsWithEof: number, isInTransaction: boolean][] = [
  [query("start transaction"), 1, 1, true],
  [query("select '', 1 union all select '', 2"), 6, 7, true],
  [query("select * from nowhere"), 1, 1, true],
  [Buffer.of(0x0e), 1, 1, true],
  [Buffer.of(0x09), 1, 1, true],
  [Buffer.from("\u0016select ?, ?"), 5, 7, true],
  [Buffer.from("\u0016commit"), 1, 1, true],
  [query("commit"), 1, 1, false],
  [Buffer.from("\u0016select seq, 'x' from shop.numbers"), 3, 4, false],
  // The statement that was prepared last, with a cursor and without.
  [Buffer.of(0x17, 255, 255, 255, 255, 0, 1, 0, 0, 0), 304, 305, false],
  [Buffer.from("\u0016select seq from shop.numbers"), 2, 3, false],
  [Buffer.of(0x17, 255, 255, 255, 255, 1, 1, 0, 0, 0), 3, 3, false],
  [Buffer.of(0x1c, 255, 255, 255, 255, 2, 0, 0, 0), 3, 3, false],
  [query("start transaction; select 1; nonsense"), 6, 7, true],
  [query("rollback"), 1, 1, false],
  [query("set autocommit = 0"), 1, 1, false],
  [query("insert into shop.orders values (70000), (70001)"), 1, 1, true],
  [Buffer.of(0x1f), 1, 1, false],
  [Buffer.from("\u0004numbers\0"), 2, 2, false],
  [Buffer.of(0x1b, 1, 0), 1, 1, false],
];

test.each([
  ["without EOF", DEPRECATE_EOF],
  ["with EOF", 0],
])("what the engine says %s is followed, however it is cut", async (_, flag) => {
  await server.admin("create or replace table shop.numbers (seq int)");
  await server.admin("insert into shop.numbers select seq from seq_1_to_300");
  const raw = new RawMysql(server.socket);
  const salt = saltOf((await raw.expectPacket()).payload);
  const proof = nativeToken("app-secret", salt);
  const multipleStatements = 0x1_0000;
  raw.send(
    1,
    handshakeResponse({ user: "app", proof, database: "shop", flags: flag | multipleStatements | 8 }),
  );
  expect((await raw.expectPacket()).payload[0]).toBe(0);
  const recorded: Buffer[] = [];
  for (const [command, packets, packetsWithEof] of CONVERSATION) {
    raw.send(0, command);
    const answer: Buffer[] = [];
    while (answer.length < (flag === 0 ? packetsWithEof : packets)) {
      const { sequence, payload } = await raw.expectPacket();
      answer.push(framed(sequence, payload));
    }
    recorded.push(Buffer.concat(answer));
  }
  raw.close();
  for (const longest of [1, 2, 7, 40, 300, 5_000]) {
    const answers = new Answers(flag !== 0);
    for (const [index, [command, , , isInTransaction]] of CONVERSATION.entries()) {
      const bytes = recorded[index] ?? Buffer.alloc(0);
      answers.ask(command[0] ?? 0);
      for (let at = 0; at < bytes.length;) {
        expect(answers.isComplete).toBe(false);
        const step = Math.min(bytes.length - at, 1 + Math.floor(Math.random() * longest));
        answers.observe(bytes.subarray(at), step);
        at += step;
      }
      const now = { index, isComplete: answers.isComplete, isInTransaction: answers.isInTransaction };
      expect(now).toEqual({ index, isComplete: true, isInTransaction });
    }
  }
});

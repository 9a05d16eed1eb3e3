// The activities that forbid to stop a real MariaDB, and the users that may log in.
import { SQL } from "bun";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestMariaDb } from "../../../tests/support/engines/mariadb.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { MysqlSpec } from "../../contracts/instance-spec.ts";
import type { EngineContext } from "../engine.ts";
import { inspection } from "./inspection.ts";
import { blockingActivity, users } from "./sessions.ts";

let server: TestMariaDb;
beforeAll(async () => {
  server = await TestMariaDb.start(["--event-scheduler=ON"]);
  await server.admin("create database main");
  await server.admin("create table main.t (a int)");
  await server.admin("create user app identified by 'moi'");
  await server.admin("grant all on main.* to app");
});
afterAll(() => server.stop());

const context = () => ({ paths: { socket: server.socket } }) as EngineContext<MysqlSpec>;
const reason = () => blockingActivity(context());

/** Opens a session as the customer, and runs statements in it one after the other. */
async function session(...statements: string[]): Promise<SQL> {
  const login = { adapter: "mysql", path: server.socket, username: "app", password: "moi" } as const;
  const db = new SQL({ ...login, database: "main", max: 1 });
  for (const statement of statements) await db.unsafe(statement);
  return db;
}

/** The server forgets a session a moment after its end. */
async function untilIdle(): Promise<void> {
  await until("nobody is busy", async () => (await reason()) === null);
}

test("a transaction that begins between two questions forbids a stop at the second", async () => {
  const db = await session("select 1");
  expect(await reason()).toBeNull();
  await db.unsafe("start transaction with consistent snapshot");
  expect(await reason()).toBe('The user "app" is in the middle of a transaction.');
  await db.unsafe("commit");
  expect(await reason()).toBeNull();
  await db.close();
});

test("queries show a transaction that began after the list of transactions was read", async () => {
  const request = { withIdle: false };
  const db = await session("select 1");
  // The server answers the next reader from this list, unless that waits.
  await server.admin("select count(*) from information_schema.innodb_trx");
  await db.unsafe("start transaction with consistent snapshot");
  const { queries } = await inspection.queries(context(), request);
  expect(queries.map(({ state }) => state)).toEqual(["idle_in_transaction"]);
  await db.unsafe("commit");
  await db.close();
});

test("a table lock of an otherwise idle session forbids a stop", async () => {
  const db = await session("lock tables t read");
  expect(await reason()).toBe('A client has locked the table "main.t".');
  await db.unsafe("unlock tables");
  expect(await reason()).toBeNull();
  await db.close();
});

test("a prepared transaction whose session has ended forbids a stop", async () => {
  const db = await session(
    "xa start 'transfer'",
    "insert into t values (1)",
    "xa end 'transfer'",
    "xa prepare 'transfer'",
  );
  await db.close();
  await until("the reason is shown", async () => {
    return (await reason()) === "The prepared transaction 'transfer' waits for its end.";
  });
  await server.admin("xa rollback 'transfer'");
  await untilIdle();
});

test("a running event forbids a stop, and a scheduled event does not", async () => {
  await server.admin(
    "create definer = app event main.later on schedule at now() + interval 1 day do select 1",
  );
  expect(await reason()).toBeNull();
  await server.admin("create definer = app event main.slow on schedule at now() do select sleep(100)");
  await until(
    "the reason is shown",
    async () => (await reason())?.startsWith('The user "app" is busy') === true,
  );
  const [thread] = await server.admin<{ id: number }>(
    "select id from information_schema.processlist where state = 'User sleep'",
  );
  await server.admin(`kill ${thread?.id}`);
  await untilIdle();
});

test("the users are the accounts that can log in through the gateway, and no others", async () => {
  await server.admin("create user plain identified by 'one'");
  await server.admin("create user sealed identified by 'one' require ssl");
  await server.admin("create user unsealed identified by 'one' require none");
  await server.admin("create user locked identified by 'one' account lock");
  const { users: found } = await users(context());
  const names = found.map(({ name }) => name);
  expect(names.toSorted()).toEqual(["app", "plain", "unsealed"]);
});

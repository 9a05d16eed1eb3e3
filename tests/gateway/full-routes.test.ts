// An instance with as many clients as it may have: the next client gets the error of its protocol, and wakes nothing.
import { afterEach, describe, expect, test } from "bun:test";
import mysql from "mysql2/promise";
import { Client } from "pg";
import { TestMariaDb } from "../support/engines/mariadb.ts";
import { MysqlGateway } from "../support/gateway/mysql-gateway.ts";
import { TestPostgres } from "../support/engines/postgres-engine.ts";
import { PostgresGateway } from "../support/gateway/postgres-gateway.ts";
import { ENGINES, PASSWORD, RedisGateway } from "../support/gateway/redis-gateway.ts";
import { MYSQL_CONNECT_TIMEOUT_MS } from "../support/pilvi/databases.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { RawClient } from "../support/load/raw-client.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

describe.each(ENGINES)("a full cache of %s", (name) => {
  async function answerTo(text: string, state: "asleep" | "running"): Promise<string> {
    const cache = await RedisGateway.create(name);
    cleanUps.push(() => cache.close());
    if (state === "running") {
      const waker = await RawClient.open(cache.port);
      cleanUps.push(() => waker.close());
      waker.write(`AUTH app ${PASSWORD}\r\nSET key value\r\n`);
      await waker.until((received) => received.toString().endsWith("+OK\r\n+OK\r\n"));
    }
    const wakes = cache.wakes.length;
    cache.isFull = true;
    const client = await RawClient.open(cache.port);
    client.write(text);
    const received = (await client.rest()).toString();
    expect(cache.wakes.length).toBe(wakes);
    expect(cache.faults).toEqual([]);
    return received;
  }

  test.each(["asleep", "running"] as const)("that is %s", async (state) => {
    expect(await answerTo(`AUTH app ${PASSWORD}\r\nGET key\r\n`, state)).toBe(
      "-ERR max number of clients reached\r\n",
    );
  });
});

test("a full Postgres refuses the next client, asleep or not", async () => {
  const server = await TestPostgres.start([]);
  cleanUps.push(() => server.remove());
  await server.admin("create role ann login password 'one'");
  const gateway = new PostgresGateway(server);
  cleanUps.push(() => gateway.close());
  await gateway.learnUsers();
  gateway.isFull = true;
  const login = async () => {
    const to = { host: "127.0.0.1", port: gateway.port, user: "ann", password: "one", database: "postgres" };
    await new Client(to).connect();
  };
  const refusal = { code: "53300", message: "sorry, too many clients already" };
  await expect(login()).rejects.toMatchObject(refusal);
  gateway.become("asleep");
  await expect(login()).rejects.toMatchObject(refusal);
  expect(gateway.wakes).toEqual([]);
  expect(gateway.faults).toEqual([]);
});

test("clients that a full Postgres refuses leave no connection to the engine behind", async () => {
  // The engine itself ends a login that does not go on, but not during this test.
  const server = await TestPostgres.start(["authentication_timeout=600"]);
  cleanUps.push(() => server.remove());
  await server.admin("create role ann login password 'one'");
  const gateway = new PostgresGateway(server);
  cleanUps.push(() => gateway.close());
  await gateway.learnUsers();
  gateway.isFull = true;
  const to = { host: "127.0.0.1", port: gateway.port, user: "ann", password: "one", database: "postgres" };
  for (let dials = 1; dials <= 3; dials++) {
    await expect(new Client(to).connect()).rejects.toMatchObject({ code: "53300" });
    expect(gateway.dials).toBe(dials);
  }
  const others = `select from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  await until("the engine has no client", async () => (await server.admin(others)).length === 0);
});

test("a full MySQL refuses the next client, asleep or not", async () => {
  const server = await TestMariaDb.start([]);
  cleanUps.push(() => server.stop());
  await server.admin("create user app@'%' identified by 'secret'");
  const gateway = new MysqlGateway(server);
  cleanUps.push(() => gateway.close());
  await gateway.learnUsers();
  gateway.isFull = true;
  const login = () =>
    mysql.createConnection({
      host: "127.0.0.1",
      port: gateway.port,
      user: "app",
      password: "secret",
      connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    });
  const refusal = { errno: 1040, sqlState: "08004", message: "Too many connections" };
  await expect(login()).rejects.toMatchObject(refusal);
  gateway.become("asleep");
  await expect(login()).rejects.toMatchObject(refusal);
  expect(gateway.wakes).toEqual([]);
  expect(gateway.faults).toEqual([]);
});

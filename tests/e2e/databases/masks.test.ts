// Masks that end without an error: their changes are in the data, or the mask has failed.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Connection } from "mysql2/promise";
import type { Client } from "pg";
import { maskData } from "../../../src/resources/databases/masks/apply.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import type { Protocol } from "../../../src/resources/databases/types.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  loginOf,
  MYSQL,
  POSTGRES,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import type { TestPilvi } from "../../support/pilvi/pilvi.ts";

const START_MS = 240_000;
const UPDATE = "update users set email = 'masked'";
const EMAIL = "select email from users";
const never = new AbortController().signal;
const isDeleting = () => Promise.resolve(false);

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
}, START_MS);

afterAll(async () => {
  await pilvi.close();
});

async function mask(cluster: DatabaseClusterResource, protocol: Protocol, sql: string): Promise<unknown> {
  const { host: hostname, port, user: username, password } = loginOf(cluster);
  const login = { protocol, hostname, port, username, password, isPublic: false };
  return await maskData({ login, databases: ["main"], mask: { sql, database: null }, isDeleting }, never);
}

const failure = "The data could not be masked: The SQL left a transaction open, which was rolled back.";

describe("a mask of a Postgres", () => {
  let cluster: DatabaseClusterResource;
  let client: Client;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type: POSTGRES, name: "postgres" });
    client = await connectPg(cluster);
    await client.query("create table users (email text)");
    await client.query("insert into users values ('real')");
  }, START_MS);

  afterAll(async () => {
    await client.end();
  });

  test.each([
    `begin; ${UPDATE};`,
    `begin; ${UPDATE}; commit and chain`,
    `begin; ${UPDATE}; commit; begin; ${EMAIL}`,
  ])("that leaves a transaction open fails: %s", async (sql) => {
    expect(await mask(cluster, "postgres", sql)).toEqual({ failure });
  });

  test.each([UPDATE, `begin; ${UPDATE}; commit`, `${UPDATE}; begin; ${UPDATE}; commit; ${EMAIL}`])(
    "that completes its transactions is done: %s",
    async (sql) => {
      await client.query("update users set email = 'real'");
      expect(await mask(cluster, "postgres", sql)).toBe("done");
      expect(await firstOf(client, EMAIL)).toBe("masked");
    },
  );
});

describe("a mask of a MySQL", () => {
  let cluster: DatabaseClusterResource;
  let client: Connection;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type: MYSQL, name: "mysql" });
    client = await connectMysql(cluster);
    await client.query("create table users (email varchar(20))");
    await client.query("insert into users values ('real')");
  }, START_MS);

  afterAll(async () => {
    await client.end();
  });

  test.each([
    `begin; ${UPDATE}`,
    `begin; ${UPDATE}; ${EMAIL}`,
    `set autocommit = 0; ${UPDATE}`,
    `set autocommit = 0; ${UPDATE}; ${EMAIL};`,
    `set autocommit = 0; ${UPDATE}; commit and chain`,
    `start transaction; ${UPDATE}; set @rows = 1`,
    `xa start 'mask'; ${UPDATE}; xa end 'mask'`,
  ])("that leaves a transaction open fails: %s", async (sql) => {
    expect(await mask(cluster, "mysql", sql)).toEqual({ failure });
  });

  test.each([
    UPDATE,
    `begin; ${UPDATE}; commit`,
    `set autocommit = 0; ${UPDATE}; commit`,
    `set autocommit = 0; ${UPDATE}; set autocommit = 1; ${EMAIL}`,
  ])("that completes its transactions is done: %s", async (sql) => {
    await client.query("update users set email = 'real'");
    expect(await mask(cluster, "mysql", sql)).toBe("done");
    expect(await firstOfMysql(client, EMAIL)).toBe("masked");
  });
});

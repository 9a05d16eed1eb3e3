// The reason why a Postgres stays awake quotes names that a customer chose, without what a terminal would obey.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "pg";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { connectPg, createCluster, startDatabases } from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";

/** Clears the screen of a terminal. */
const CLEAR = "\u001b[2J";
/** Control characters that a terminal would obey. */
const CONTROL = /\p{Cc}/u;

let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;
let owner: Client;

beforeAll(async () => {
  pilvi = await startDatabases();
  cluster = await createCluster(pilvi);
  owner = await connectPg(cluster);
});
afterAll(async () => {
  await owner.end();
  await pilvi.close();
});

test("a client whose name and role have escapes is named without them", async () => {
  await owner.query(`create role "cook${CLEAR}" login password 'moi'`);
  const login = { user: `cook${CLEAR}`, password: "moi", application_name: `shop${CLEAR}` };
  const client = await connectPg(cluster, login);
  const query = client.query("select pg_sleep(600)").catch(String);
  const running =
    "select pid from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'";
  await until("the query runs", async () => (await owner.query(running)).rowCount === 1);

  const { status, body } = await new Sleeper(pilvi, cluster).suspend();
  expect(status).toBe(409);
  expect(body.message).toMatch(/^The client "shop.*\[2J" of the user "cook\?\[2J".* runs a query\.$/);
  expect(body.message).not.toMatch(CONTROL);

  await owner.query(`select pg_terminate_backend(pid) from (${running}) as busy`);
  expect(await query).toContain("terminating connection");
});

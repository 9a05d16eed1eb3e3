// Clients of Postgres that come while others hold the places for clients before their login.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { Client } from "pg";
import { ADMIN, TestPostgres } from "../support/engines/postgres-engine.ts";
import { PostgresGateway } from "../support/gateway/postgres-gateway.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { RawPostgres } from "../support/wire/postgres-raw.ts";

/** As many as the gateway lets wait at the engine. */
const CROWD = 16;

let server: TestPostgres;
let gateway: PostgresGateway;
let raws: RawPostgres[] = [];

beforeAll(async () => {
  server = await TestPostgres.start(["max_connections=60"]);
  await server.admin("create role ann login password 'one'");
  await server.admin("create database main owner ann");
});

/** Strangers who ask for a challenge, never answer it, and so keep their places. */
beforeEach(async () => {
  gateway = new PostgresGateway(server);
  await gateway.learnUsers();
  await Promise.all(Array.from({ length: CROWD }, () => challengeFor("ann")));
  expect(gateway.dials).toBe(CROWD);
});

afterEach(async () => {
  for (const raw of raws) raw.close();
  raws = [];
  await gateway.close();
  expect(gateway.faults).toEqual([]);
});

afterAll(async () => {
  await server.remove();
});

async function challengeFor(user: string): Promise<string> {
  const client = await RawPostgres.open(gateway.port);
  raws.push(client);
  return await client.challenge(user);
}

/** Logs in and says who the engine takes the client for. */
async function logIn(user: string, password: string): Promise<string | undefined> {
  const client = new Client({ host: "127.0.0.1", port: gateway.port, user, password, database: "main" });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ who: string }>("select current_user as who");
    return rows[0]?.who;
  } finally {
    await client.end().catch(() => {});
  }
}

test("no name is looked up at the host, and all take the same steps", async () => {
  for (const user of ["nobody", "ann", ADMIN, "someone"]) {
    const { questions, dials } = gateway;
    await challengeFor(user);
    expect([user, gateway.questions - questions, gateway.dials - dials]).toEqual([user, 0, 1]);
  }
});

test("no connection to the engine is kept for a client without a place", async () => {
  for (let count = 0; count < CROWD; count++) await challengeFor(count % 2 === 0 ? "ann" : "nobody");
  expect(gateway.dials).toBe(2 * CROWD);
  const query = "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'";
  // An engine's process ends some time after its client; the session that asks counts too.
  await until("the former sessions have ended", async () => {
    const [row] = await server.admin<{ count: number }>(query);
    return row !== undefined && row.count <= CROWD + 1;
  });
});

test("users log in, also with a password or as a role that the gateway does not know yet", async () => {
  expect(await logIn("ann", "one")).toBe("ann");
  await server.admin("alter role ann password 'two'; create role eve login password 'eve'");
  const logins = [logIn("ann", "two"), ...Array.from({ length: 30 }, () => logIn("eve", "eve"))];
  expect(await Promise.all(logins)).toEqual(["ann", ...Array.from({ length: 30 }, () => "eve")]);
  await server.admin("alter role ann password 'one'; drop role eve");
});

// What runs in a cluster, how it is ended, and what statements have taken, for the oldest and the newest Postgres and
// for MariaDB.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import type {
  DatabaseQueries,
  DatabaseQuery,
  DatabaseStatements,
  TokenDocument,
} from "../../../src/sdk/index.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  MYSQL,
  POSTGRES,
  processesOf,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { type Answer, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { Sleeper } from "../../support/pilvi/sleepers.ts";
import { isAlive } from "../../support/pilvi/processes.ts";

let pilvi: TestPilvi;
let viewer: Record<string, string>;
beforeAll(async () => {
  pilvi = await startDatabases();
  const order = { name: "viewer", abilities: ["databases:read"] };
  const { body } = await pilvi.api<TokenDocument>("POST", "/tokens", order);
  viewer = { authorization: `Bearer ${body.data.attributes.token}` };
});
afterAll(async () => await pilvi.close());

/** A session of a customer. */
interface Session {
  /** Runs a statement; rejects when it is cancelled. */
  query(sql: string): Promise<unknown>;
  /** Resolves when the session has ended. */
  ended: Promise<unknown>;
  close(): Promise<unknown>;
}

async function session(cluster: DatabaseClusterResource): Promise<Session> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster, { application_name: "a test" });
    client.on("end", resolve);
    return { query: (sql) => client.query(sql), ended, close: () => client.end() };
  }
  const connection = await connectMysql(cluster);
  connection.on("error", () => undefined);
  connection.on("end", resolve);
  return { query: (sql) => connection.query(sql), ended, close: () => connection.end() };
}

const pathOf = ({ id }: DatabaseClusterResource) => `/databases/clusters/${id}`;

async function queriesOf(cluster: DatabaseClusterResource, query = ""): Promise<DatabaseQueries> {
  const answer = await pilvi.api<DatabaseQueries>(
    "GET",
    `${pathOf(cluster)}/queries${query}`,
    undefined,
    viewer,
  );
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

async function cancel(
  cluster: DatabaseClusterResource,
  id: string,
  query = "",
): Promise<Answer<{ message: string }>> {
  return await pilvi.api("DELETE", `${pathOf(cluster)}/queries/${id}${query}`);
}

/** Waits until one session is listed that runs such a text, and is in such a state. */
async function untilListed(
  cluster: DatabaseClusterResource,
  isMeant: (attributes: DatabaseQuery["attributes"]) => boolean,
): Promise<DatabaseQuery> {
  let found: DatabaseQuery | undefined;
  await until("it is listed", async () => {
    found = (await queriesOf(cluster)).data.find(({ attributes }) => isMeant(attributes));
    return found !== undefined;
  });
  if (found === undefined) throw new Error("it is not listed");
  return found;
}

/** A statement with the address of its client, which the gateway may be too busy to say in time. */
const running = (word: string) => (each: DatabaseQuery["attributes"]) =>
  each.state === "active" && each.text?.includes(word) === true && each.client_address !== null;

/** The outcome of a statement that is to be cancelled. */
async function outcomeOf(statement: Promise<unknown>): Promise<string> {
  return await statement.then(
    () => "it ran to its end",
    (error: unknown) => String(error),
  );
}

const CANCELLED = /canceling statement due to user request|execution was interrupted/;

describe.each([
  ["Postgres 14", { type: POSTGRES, version: "14" }, "pg_sleep"],
  ["Postgres 18", { type: POSTGRES, version: "18" }, "pg_sleep"],
  ["MariaDB", { type: MYSQL, config: { size: "mysql-flex-512mb" } }, "sleep"],
])("the queries of a %s", (_, order, sleep) => {
  let cluster: DatabaseClusterResource;
  let client: Session;
  beforeAll(async () => {
    cluster = await createCluster(pilvi, order);
    client = await session(cluster);
  });

  test("are empty while nothing runs; idle sessions are listed only when asked for", async () => {
    await until("nothing runs", async () => (await queriesOf(cluster)).data.length === 0);
    const { data, meta } = await queriesOf(cluster, "?idle=true");
    expect(meta).toEqual({ is_asleep: false, total: 1 });
    expect(data).toHaveLength(1);
    expect(data[0]?.attributes).toMatchObject({ user: "app", database: "main", state: "idle" });
  });

  test("show a statement under way, and a cancel ends that statement alone", async () => {
    const outcome = outcomeOf(client.query(`select ${sleep}(600)`));
    const { id, attributes } = await untilListed(cluster, running("600"));
    expect(attributes).toMatchObject({
      user: "app",
      database: "main",
      state: "active",
      text: `select ${sleep}(600)`,
      is_text_cut: false,
      client_address: "127.0.0.1",
    });
    expect(attributes.duration_ms).toBeGreaterThan(0);
    expect((await cancel(cluster, id)).status).toBe(204);
    expect(await outcome).toMatch(CANCELLED);
    expect((await cancel(cluster, id)).status).toBe(404);
    await client.query("select 1");
  });

  test("keep the id of a run: neither a later statement nor another session is cancelled by it", async () => {
    const first = outcomeOf(client.query(`select ${sleep}(601)`));
    const { id } = await untilListed(cluster, running("601"));
    await cancel(cluster, id);
    await first;
    const second = outcomeOf(client.query(`select ${sleep}(602)`));
    const later = await untilListed(cluster, running("602"));
    const [pid, began = "", statement] = later.id.split("-");
    expect(id.split("-")[0]).toBe(pid);
    const other = began.replace(/^./, (digit) => (digit === "1" ? "2" : "1"));
    const reused = [id, `${pid}-${other}-${statement}`, `${pid}-1-${statement}`];
    for (const each of reused) {
      expect(await cancel(cluster, each)).toMatchObject({ status: 404 });
      // The statement of a session may be a later one, but the session is the same.
      if (each !== id) expect((await cancel(cluster, each, "?scope=session")).status).toBe(404);
    }
    await untilListed(cluster, running("602"));
    expect((await cancel(cluster, later.id)).status).toBe(204);
    expect(await second).toMatch(CANCELLED);
  });

  test("show an open transaction, of which only the session can be ended", async () => {
    const other = await session(cluster);
    await other.query("create table if not exists held (a int)");
    await other.query("begin");
    await other.query("insert into held values (1)");
    const { id, attributes } = await untilListed(cluster, ({ state }) => state === "idle_in_transaction");
    expect(attributes.transaction_ms).toBeGreaterThanOrEqual(0);
    expect((await cancel(cluster, id)).body?.message).toContain("runs no statement");
    expect((await cancel(cluster, id, "?scope=session")).status).toBe(204);
    await other.ended;
    await until("it is gone", async () => (await cancel(cluster, id, "?scope=session")).status === 404);
  });

  test("can be read by a viewer, who cancels nothing", async () => {
    const [idle] = (await queriesOf(cluster, "?idle=true")).data;
    const path = `${pathOf(cluster)}/queries/${idle?.id}?scope=session`;
    expect((await pilvi.api("DELETE", path, undefined, viewer)).status).toBe(403);
    expect((await pilvi.api("DELETE", `${pathOf(cluster)}/statements`, undefined, viewer)).status).toBe(403);
    await client.query("select 1");
  });

  test("show the beginning of a huge statement, and no password", async () => {
    const huge = outcomeOf(client.query(`select ${sleep}(603), '${"x".repeat(4_000_000)}'`));
    const { id, attributes } = await untilListed(cluster, running("603"));
    expect(attributes.is_text_cut).toBe(true);
    expect(attributes.text?.length).toBeLessThanOrEqual(4_000);
    await cancel(cluster, id);
    expect(await huge).toMatch(CANCELLED);
    const secret = outcomeOf(client.query(`select ${sleep}(604), 'password', 'hunter2'`));
    const shown = await untilListed(cluster, running("604"));
    expect(shown.attributes.text).toBe(`select ${sleep}(604), 'password`);
    await cancel(cluster, shown.id);
    await secret;
  });

  test("are read beside so many sessions that no customer can log in", async () => {
    const crowd: Session[] = [];
    const isFull = async () => {
      const more = await Promise.allSettled(Array.from({ length: 20 }, () => session(cluster)));
      crowd.push(...more.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])));
      return more.some(({ status }) => status === "rejected");
    };
    await until("it is full", isFull);
    const { meta, data } = await queriesOf(cluster, "?idle=true");
    expect(meta.total).toBeGreaterThanOrEqual(crowd.length);
    expect(data).toHaveLength(meta.total);
    await Promise.allSettled(crowd.map((each) => each.close()));
  });

  test("are empty while the cluster sleeps, which reading does not end", async () => {
    await client.close();
    const sleeper = new Sleeper(pilvi, cluster);
    await until("it can sleep", async () => (await sleeper.suspend()).status === 200);
    const { wakes } = await sleeper.state();
    expect(await queriesOf(cluster, "?idle=true")).toEqual({ data: [], meta: { is_asleep: true, total: 0 } });
    expect((await cancel(cluster, "1-1-1")).status).toBe(404);
    expect(await sleeper.state()).toMatchObject({ state: "asleep", wakes });
  });
});

describe.each(["14", "18"])("the statements of a Postgres %s", (version) => {
  let cluster: DatabaseClusterResource;
  let client: Session;
  const statementsOf = async (query = "") =>
    await pilvi.api<DatabaseStatements>("GET", `${pathOf(cluster)}/statements${query}`, undefined, viewer);
  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type: POSTGRES, version });
    client = await session(cluster);
  });

  test("have calls, times and rows, in the order that was asked for", async () => {
    await client.query("create table numbers as select generate_series(1, 500) as n");
    for (let round = 0; round < 3; round++) await client.query(`select n from numbers where n > ${round}`);
    await client.query("select pg_sleep(0.05)");
    const { status, body } = await statementsOf("?sort=calls&limit=1");
    expect(status).toBe(200);
    expect(body.meta).toMatchObject({ is_asleep: false, sort: "calls" });
    expect(body.data).toHaveLength(1);
    expect(body.data[0]?.attributes).toMatchObject({
      text: "select n from numbers where n > $1",
      user: "app",
      database: "main",
      calls: 3,
      rows: 500 + 499 + 498,
      cache_hit_ratio: expect.any(Number),
    });
    const slowest = (await statementsOf("?sort=max_time")).body.data.map(({ attributes }) => attributes);
    const times = slowest.map(({ max_time_ms: ms }) => ms);
    expect(times).toEqual(times.toSorted((one, other) => other - one));
    const slept = slowest.find(({ text }) => text === "select pg_sleep($1)");
    expect(slept?.max_time_ms).toBeGreaterThanOrEqual(50);
  });

  test("show neither Pilvi's own nor a password", async () => {
    if (version === "18") await client.query("create role bob password 'hunter2'");
    await client.query("set password_encryption = 'scram-sha-256'");
    const { data } = (await statementsOf("?limit=100")).body;
    const text = JSON.stringify(data);
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("pilvi_admin");
    expect(data.every(({ attributes: { user } }) => user === "app")).toBe(true);
  });

  test("outlive a sleep, and are empty meanwhile", async () => {
    await client.close();
    const sleeper = new Sleeper(pilvi, cluster);
    await until("it can sleep", async () => (await sleeper.suspend()).status === 200);
    const asleep = (await statementsOf()).body;
    expect(asleep).toMatchObject({ data: [], meta: { is_asleep: true, total: 0, since: null } });
    expect((await pilvi.api("DELETE", `${pathOf(cluster)}/statements`)).status).toBe(503);
    expect((await sleeper.state()).state).toBe("asleep");
    client = await session(cluster);
    const texts = (await statementsOf()).body.data.map(({ attributes }) => attributes.text);
    expect(texts).toContain("select n from numbers where n > $1");
  });

  test("have no texts when a customer made them too large to be read", async () => {
    const padding = "x".repeat(12_000_000);
    for (const columns of ["1, 1", "1, 1, 1", "1, 1, 1, 1"])
      await client.query(`select /* ${padding} */ ${columns}`);
    const { status, body } = await statementsOf("?limit=100");
    expect(status).toBe(200);
    expect(body.data.map(({ attributes: { text, is_text_cut: isCut } }) => [text, isCut])).toEqual(
      body.data.map(() => [null, false]),
    );
    expect((await pilvi.api("DELETE", `${pathOf(cluster)}/statements`)).status).toBe(204);
    await client.query("select 2 as fresh");
    const fresh = (await statementsOf()).body;
    expect(fresh.data.map(({ attributes }) => attributes.text)).toEqual(["select $1 as fresh"]);
    expect(fresh.meta.total).toBe(1);
  });

  test("are forgotten at a start when their texts would make it slow", async () => {
    await client.query(`select /* ${"x".repeat(33 * 1024 ** 2)} */ 3, 3, 3`);
    await client.close();
    const sleeper = new Sleeper(pilvi, cluster);
    await until("it can sleep", async () => (await sleeper.suspend()).status === 200);
    client = await session(cluster);
    await client.query("select 4 as four, 4");
    const texts = (await statementsOf()).body.data.map(({ attributes }) => attributes.text);
    expect(texts).toEqual(["select $1 as four, $2"]);
    await client.close();
  });
});

test("the statements of a MariaDB are refused with the reason", async () => {
  const cluster = await createCluster(pilvi, { type: MYSQL });
  for (const method of ["GET", "DELETE"]) {
    expect(await pilvi.api(method, `${pathOf(cluster)}/statements`)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("keeps no figures of its statements") },
    });
  }
});

test("an engine that does not answer costs a few seconds, and answers again when it can", async () => {
  const cluster = await createCluster(pilvi);
  const pids = processesOf(pilvi, cluster.id);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    const { status, body } = await pilvi.api("GET", `${pathOf(cluster)}/queries`);
    expect({ status, body }).toEqual({
      status: 503,
      body: { message: "The database cluster does not answer at the moment. Try again soon." },
    });
  } finally {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGCONT");
  }
  await until(
    "it answers",
    async () => (await pilvi.api("GET", `${pathOf(cluster)}/queries`)).status === 200,
  );
});

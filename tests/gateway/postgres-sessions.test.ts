// Sessions of Postgres through a gateway: cancels, disconnecting for sleep, many at once, and every installed version.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Client, DatabaseError } from "pg";
import { cancelRequest, message } from "../../src/gateway/postgres/messages.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { postgresEngines, TestPostgres } from "../support/engines/postgres-engine.ts";
import { PostgresGateway } from "../support/gateway/postgres-gateway.ts";
import { errorOf, RawPostgres, startup } from "../support/wire/postgres-raw.ts";

const TRANSFER_BYTES = 8 * 1024 * 1024;

let server: TestPostgres;
let gateway: PostgresGateway;
let neighbour: PostgresGateway;
let raws: RawPostgres[] = [];

beforeAll(async () => {
  server = await prepared();
});

beforeEach(async () => {
  if (!server.isRunning) await server.run();
  gateway = new PostgresGateway(server);
  neighbour = new PostgresGateway(server, {}, "db-2");
  for (const each of [gateway, neighbour]) await each.learnUsers();
});

afterEach(async () => {
  for (const raw of raws) raw.close();
  raws = [];
  for (const each of [gateway, neighbour]) {
    await each.close();
    expect(each.faults).toEqual([]);
  }
});

afterAll(async () => await server.remove());

async function prepared(...args: Parameters<typeof TestPostgres.start>): Promise<TestPostgres> {
  const started = await TestPostgres.start(...args);
  await started.admin("create role ann login password 'one'");
  return started;
}

async function openPg(port = gateway.port): Promise<Client> {
  const client = new Client({ host: "127.0.0.1", port, user: "ann", password: "one", database: "postgres" });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** A session with its cancel key. */
async function openRaw(version = 0x3_0000): Promise<{ client: RawPostgres; pid: number; key: Buffer }> {
  const client = await RawPostgres.open(gateway.port);
  raws.push(client);
  client.send(startup({ user: "ann", database: "postgres" }, version));
  const received = await client.prove("one");
  const body = received.find(({ type }) => type === "K")?.body ?? Buffer.alloc(4);
  return { client, pid: body.readInt32BE(), key: body.subarray(4) };
}

/** Sends a cancel key, and waits until the gateway has handled it. */
async function cancel(port: number, pid: number, key: Uint8Array): Promise<void> {
  const client = await RawPostgres.open(port);
  client.send(cancelRequest(pid, key));
  expect(await client.rest()).toHaveLength(0);
}

function query(text: string): Buffer {
  return message("Q", Buffer.from(`${text}\0`));
}

async function isSleeping(): Promise<boolean> {
  if (!server.isRunning) return false;
  const rows = await server.admin(
    "select 1 from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'",
  );
  return rows.length > 0;
}

/** The engine's processes for customers. */
async function sessions(): Promise<number[]> {
  const rows = await server.admin<{ pid: number }>("select pid from pg_stat_activity where usename = 'ann'");
  return rows.map(({ pid }) => pid);
}

describe("a cancel", () => {
  test.each([0x3_0000, 0x3_0002])("ends the query of its session, in version %d", async (version) => {
    const { client, pid, key } = await openRaw(version);
    client.send(query("select pg_sleep(60)"));
    await until("the query is under way", isSleeping);
    await cancel(gateway.port, pid, key);
    const received = await client.until("Z");
    expect(errorOf(received.find(({ type }) => type === "E"))).toMatchObject({ C: "57014" });
    client.send(query("select 1"));
    expect((await client.until("Z")).map(({ type }) => type)).toContain("C");
  });

  test("is shown the process id of the engine, and reaches a query that a drain waits for", async () => {
    const { client, pid, key } = await openRaw();
    client.send(query("select pg_sleep(60)"));
    await until("the query is under way", isSleeping);
    const [engine] = await server.admin<{ pid: number }>(
      "select pid from pg_stat_activity where query like 'select pg_sleep%'",
    );
    expect(pid).toBe(engine?.pid ?? 0);
    const drained = gateway.drain();
    await cancel(gateway.port, pid, key);
    expect(errorOf((await client.until("E")).at(-1))).toMatchObject({ C: "57014" });
    expect(await drained).toBe("drained");
  });

  test("has no effect at another cluster's address, with another key, or with another process id", async () => {
    const { client, pid, key } = await openRaw();
    client.send(query("select pg_sleep(60)"));
    await until("the query is under way", isSleeping);
    await cancel(neighbour.port, pid, key);
    await cancel(gateway.port, pid, Buffer.from(key.map((byte) => byte ^ 1)));
    await cancel(gateway.port, pid ^ 1, key);
    expect(await isSleeping()).toBe(true);
    await cancel(gateway.port, pid, key);
    await client.until("E");
  });

  test("wakes nothing, and ends with its session", async () => {
    const { client, pid, key } = await openRaw();
    client.send(query("select 1"));
    await client.until("Z");
    await gateway.sleep();
    expect(errorOf(await client.next())).toMatchObject({ S: "FATAL", V: "FATAL", C: "57P01" });
    await client.rest();
    await cancel(gateway.port, pid, key);
    expect(gateway.wakes).toEqual([]);
    expect(server.isRunning).toBe(false);
  });
});

describe("sleep", () => {
  test("ends used sessions with an error that names the reason", async () => {
    const client = await openPg();
    await client.query("select 1");
    const lost = new Promise<Error>((resolve) => client.once("error", resolve));
    await gateway.sleep();
    const error = await lost;
    expect(error).toBeInstanceOf(DatabaseError);
    expect(error).toMatchObject({ code: "57P01", message: "terminating connection due to idle suspension" });
  });

  test("goes unnoticed in a session that was not used yet", async () => {
    const { client, pid, key } = await openRaw();
    const spare = await openPg();
    await gateway.sleep();
    await spare.end();
    expect(gateway.wakes).toEqual([]);
    client.send(query("select pg_sleep(60)"));
    await until("the query is under way", isSleeping);
    expect(gateway.wakes).toHaveLength(1);
    await cancel(gateway.port, pid, key);
    const received = await client.until("Z");
    expect(received.map(({ type }) => type)).toEqual(["T", "E", "Z"]);
    const lost = client.next();
    await gateway.sleep();
    expect(errorOf(await lost)).toMatchObject({ C: "57P01" });
  });

  test("serves an unused session that sends a query and the end of its sending", async () => {
    const { client } = await openRaw();
    await gateway.sleep();
    client.socket.end(query("select 1"));
    expect((await client.until("Z")).map(({ type }) => type)).toEqual(["T", "D", "C", "Z"]);
    expect(gateway.wakes).toHaveLength(1);
  });

  test("passes only the engine's own refusal to a session that was not used yet", async () => {
    const { client } = await openRaw();
    await gateway.drain();
    await server.admin("alter role ann nologin");
    try {
      await gateway.fallAsleep();
      client.send(query("select 1"));
      const refusal = await client.next();
      expect(refusal?.type).toBe("E");
      expect(errorOf(refusal)).toMatchObject({ S: "FATAL", C: "28000" });
    } finally {
      await until("the engine is awake", () => server.isRunning);
      await server.admin("alter role ann login");
    }
  });

  test("ends an unused session when the password has changed", async () => {
    const { client } = await openRaw();
    await gateway.drain();
    await server.admin("alter role ann password 'two'");
    try {
      await gateway.fallAsleep();
      client.send(query("select 1"));
      expect(errorOf(await client.next())).toMatchObject({ C: "28P01" });
    } finally {
      await until("the engine is awake", () => server.isRunning);
      await server.admin("alter role ann password 'one'");
    }
  });

  test("holds clients that arrive while it begins, and lets them in when it is over", async () => {
    await gateway.drain();
    const coming = openPg();
    await until("it has come", () => gateway.clients.size === 1);
    await gateway.fallAsleep();
    const client = await coming;
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    expect(gateway.wakes).toHaveLength(1);
    await client.end();
  });

  test("ends with one wake for many clients at once", async () => {
    await gateway.sleep();
    const clients = await Promise.all(Array.from({ length: 40 }, () => openPg()));
    expect(gateway.wakes).toHaveLength(1);
    const pids = clients.map(async (client) => {
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      return rows[0]?.pid;
    });
    expect(new Set(await Promise.all(pids)).size).toBe(40);
    await Promise.all(clients.map((client) => client.end()));
  });

  test("cuts off no connection during its setup, however often it comes", async () => {
    let queries = 0;
    const rounds = { left: 10 };
    const work = async () => {
      while (rounds.left > 0) {
        const client = await openPg();
        expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
        queries += 1;
        await client.end();
      }
    };
    const workers = Promise.all(Array.from({ length: 4 }, work));
    for (; rounds.left > 0; rounds.left--) {
      await gateway.sleep();
      const before = queries;
      await until("somebody got through", () => queries > before);
    }
    await workers;
    expect(gateway.wakes.length).toBeGreaterThanOrEqual(10);
  });
});

test("the gateway knows the client of an engine's session, also after a sleep, until the session ends", async () => {
  const { client } = await openRaw();
  const [former = 0] = await sessions();
  await until("its client is known", () => gateway.addressesOf([former])[0] === "127.0.0.1");
  expect(neighbour.addressesOf([former])).toEqual([null]);
  await gateway.sleep();
  expect(gateway.addressesOf([former])).toEqual([null]);
  client.send(query("select 1"));
  await client.until("Z");
  const [pid = 0] = await sessions();
  expect(gateway.addressesOf([pid])).toEqual(["127.0.0.1"]);
  client.close();
  await until("its client is forgotten", () => gateway.addressesOf([pid])[0] === null);
});

describe("the bytes of a session", () => {
  test("arrive unchanged in both directions", async () => {
    const client = await openPg();
    const sent = "é".repeat(TRANSFER_BYTES / 2);
    const { rows } = await client.query<{ got: string }>("select $1::text as got", [sent]);
    expect(rows[0]?.got === sent).toBe(true);
    await client.end();
  });

  test("may follow the password's proof at once", async () => {
    const client = await RawPostgres.open(gateway.port);
    raws.push(client);
    client.send(startup({ user: "ann", database: "postgres" }));
    const received = await client.prove("one", query("select 42"));
    expect(received.at(-1)?.type).toBe("Z");
    const answer = await client.until("Z");
    expect(answer.find(({ type }) => type === "D")?.body.toString()).toEndWith("42");
  });
});

test("every installed version accepts logins, refusals and cancels", async () => {
  for (const engine of await postgresEngines()) {
    const other = await prepared([], engine);
    const otherGateway = new PostgresGateway(other);
    try {
      await otherGateway.learnUsers();
      // The gateway asks the host when the engine's salt is not that of an unknown user, as the data's nonce gives it.
      const unknown = await RawPostgres.open(otherGateway.port);
      await unknown.challenge("nobody");
      unknown.close();
      expect({ dials: otherGateway.dials, questions: otherGateway.questions }).toEqual({
        dials: 1,
        questions: 0,
      });
      await otherGateway.sleep();
      const client = await openPg(otherGateway.port);
      const { rows } = await client.query<{ server_version: string }>("show server_version");
      expect(rows[0]?.server_version).toStartWith(engine.version);
      await client.end();
      const wrong = new Client({
        host: "127.0.0.1",
        port: otherGateway.port,
        user: "ann",
        password: "two",
        database: "postgres",
      });
      await expect(wrong.connect()).rejects.toThrow("password authentication failed");
    } finally {
      await otherGateway.close();
      await other.remove();
    }
    expect(otherGateway.faults).toEqual([]);
  }
}, 120_000);

// Clients of Postgres at a gateway with a real engine behind it, asleep and awake: which log in, and which wake it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { Client, DatabaseError, type ClientConfig } from "pg";
import postgres from "postgres";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { ADMIN, TestPostgres } from "../support/engines/postgres-engine.ts";
import { PostgresGateway } from "../support/gateway/postgres-gateway.ts";
import { RawPostgres, startup } from "../support/wire/postgres-raw.ts";
import { runProgram } from "../support/clients/programs.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const certificates = new CertificateFolder();
let server: TestPostgres;
let gateway: PostgresGateway;
let tls: TlsCertificates;
let raws: RawPostgres[] = [];

beforeAll(async () => {
  server = await TestPostgres.start(["max_connections=12", "superuser_reserved_connections=3"]);
  await server.admin("create role ann login password 'one'; create role bob login password 'bob''s'");
  await server.admin("create database main owner ann");
  tls = new TlsCertificates(await certificates.newPair("server"));
});

beforeEach(async () => {
  if (!server.isRunning) await server.run();
  await server.admin("alter role ann password 'one'");
  gateway = new PostgresGateway(server, { certificates: tls });
  await gateway.learnUsers();
});

afterEach(async () => {
  for (const raw of raws) raw.close();
  raws = [];
  await gateway.close();
  expect(gateway.faults).toEqual([]);
});

afterAll(async () => {
  await server.remove();
  certificates.remove();
});

/** The result of a query by pg, or the code and text of the error. */
async function ask(options: ClientConfig = {}, query = "select current_user as who"): Promise<string> {
  const to = { host: "127.0.0.1", port: gateway.port, user: "ann", password: "one", database: "main" };
  const client = new Client({ ...to, ...options });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ who: string }>(query);
    return rows[0]?.who ?? "";
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `${error.code} ${error.message}`;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The output of psql. */
async function psql(options: string, password = "one"): Promise<string> {
  const target = `host=127.0.0.1 port=${gateway.port} user=ann dbname=main ${options}`;
  const args = ["-XAtq", "-v", "ON_ERROR_STOP=1", target, "-c", "select current_user"];
  return (await runProgram(["psql", ...args], { PGPASSWORD: password })).trim();
}

async function challengeFor(user: string): Promise<string> {
  const client = await RawPostgres.open(gateway.port);
  raws.push(client);
  return await client.challenge(user);
}

/** The steps that the gateway takes for a client until the client has the challenge. */
async function stepsToChallenge(user: string) {
  const { questions, dials } = gateway;
  await challengeFor(user);
  return { questions: gateway.questions - questions, dials: gateway.dials - dials };
}

const saltOf = async (user: string) => (await challengeFor(user)).split(",")[1] ?? "";

async function openRaw(parameters: Record<string, string>, version?: number): Promise<RawPostgres> {
  const client = await RawPostgres.open(gateway.port);
  raws.push(client);
  client.send(startup(parameters, version));
  return client;
}

const WRONG = '28P01 password authentication failed for user "ann"';

describe.each(["awake", "asleep"])("while the engine is %s", (state) => {
  beforeEach(async () => {
    if (state === "asleep") await gateway.sleep();
  });

  /** A refused client may have changed nothing. */
  const expectUntouched = () => {
    expect(gateway.wakes).toEqual([]);
    expect(server.isRunning).toBe(state === "awake");
  };

  test("pg, postgres.js and psql log in", async () => {
    expect(await ask()).toBe("ann");
    const sql = postgres({
      host: "127.0.0.1",
      port: gateway.port,
      user: "bob",
      password: "bob's",
      database: "main",
    });
    expect(await sql`select current_user as who`).toMatchObject([{ who: "bob" }]);
    await sql.end();
    expect(await psql("sslmode=disable")).toBe("ann");
    expect(gateway.wakes).toHaveLength(state === "asleep" ? 1 : 0);
  });

  test("the client that caused the wake is reported", async () => {
    await ask({ application_name: "the test" });
    if (state === "awake") return expectUntouched();
    const [wake] = gateway.wakes;
    expect(wake).toMatchObject({ user: "ann", database: "main", application: "the test" });
    expect(wake?.address).toStartWith("127.0.0.1:");
  });

  test.each(["disable", "require channel_binding=disable", "require channel_binding=require"])(
    "psql logs in with sslmode=%s",
    async (mode) => {
      expect(await psql(`sslmode=${mode}`)).toBe("ann");
      await expect(psql(`sslmode=${mode}`, "wrong")).rejects.toThrow("password authentication failed");
    },
  );

  test("pg logs in with a channel binding", async () => {
    const ssl = { rejectUnauthorized: false };
    expect(await ask({ ssl, enableChannelBinding: true })).toBe("ann");
    expect(await ask({ ssl })).toBe("ann");
  });

  test("a wrong password is refused, and wakes nothing", async () => {
    expect(await ask({ password: "two" })).toBe(WRONG);
    expectUntouched();
  });

  test("a user that does not exist is refused in the same words", async () => {
    expect(await ask({ user: "nobody" })).toBe(WRONG.replace("ann", "nobody"));
    const salts: string[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const challenge = await challengeFor("nobody");
      expect(challenge).toMatch(/^r=abcdef[A-Za-z0-9+/]{24},s=[A-Za-z0-9+/]{22}==,i=4096$/);
      salts.push(challenge.split(",")[1] ?? "");
    }
    expect(salts[1]).toBe(salts[0] ?? "");
    expectUntouched();
  });

  test("the challenge takes the same steps for known and unknown users and the administrator", async () => {
    const steps = { questions: 0, dials: state === "awake" ? 1 : 0 };
    for (const user of ["ann", "nobody", ADMIN]) expect(await stepsToChallenge(user)).toEqual(steps);
  });

  test("a wrong password takes as many lookups of users as a user that does not exist", async () => {
    await ask({ password: "two" });
    expect(gateway.questions).toBe(1);
    await ask({ user: "nobody" });
    expect(gateway.questions).toBe(2);
  });

  test("the administrator cannot log in from outside", async () => {
    expect(await ask({ user: ADMIN, password: "any" })).toBe(WRONG.replace("ann", ADMIN));
    expectUntouched();
    // The gateway refuses even if the host's list is wrong, since the engine asks the administrator for no password.
    const verifier = gateway.entry.users.find(({ name }) => name === "ann")?.verifier ?? "";
    gateway.update({ users: [{ name: ADMIN, verifier }] });
    expect(await ask({ user: ADMIN, password: "one" })).toBe(WRONG.replace("ann", ADMIN));
  });

  test("the engine's own errors are passed on after the password's proof", async () => {
    expect(await ask({ database: "missing" })).toBe('3D000 database "missing" does not exist');
    expect(await ask({ options: "-c work_mem=much" })).toStartWith("22023 ");
    expect(await ask({ database: "missing", password: "two" })).toBe(WRONG);
  });

  test("startup parameters reach the engine", async () => {
    const query = "select current_setting('application_name') || current_setting('work_mem') as who";
    expect(await ask({ application_name: "app", options: "-c work_mem=3MB" }, query)).toBe("app3MB");
  });

  test("a client of protocol 3.2 gets a long cancel key, other clients a key of four bytes", async () => {
    for (const [version, length] of [
      [0x3_0002, 32],
      [0x3_0000, 4],
      [0x3_0001, 4],
    ] as const) {
      const received = await (await openRaw({ user: "ann", database: "main" }, version)).prove("one");
      expect(received.map(({ type }) => type).join("")).toMatch(/^RRS+KZ$/);
      const key = received.find(({ type }) => type === "K")?.body;
      expect(key).toHaveLength(4 + length);
      expect(key?.readInt32BE()).toBeGreaterThan(0);
    }
  });

  test("pg_isready and a bare connection wake nothing", async () => {
    await runProgram(["pg_isready", "-q", "-h", "127.0.0.1", "-p", String(gateway.port)]);
    (await RawPostgres.open(gateway.port)).close();
    await until("all have been served", () => gateway.clients.size === 0);
    expectUntouched();
  });
});

test("the salt of an unknown user stays when the engine sleeps, and when the gateway starts anew", async () => {
  const salts = [await saltOf("nobody")];
  await gateway.sleep();
  salts.push(await saltOf("nobody"));
  await gateway.close();
  gateway = new PostgresGateway(server);
  await server.run();
  await gateway.learnUsers();
  salts.push(await saltOf("nobody"));
  expect(salts).toEqual([salts[0] ?? "", salts[0] ?? "", salts[0] ?? ""]);
});

test("an unknown user is refused in the same words where the engine's nonce is not known", async () => {
  gateway.update({ mockNonce: null });
  expect(await ask({ user: "nobody" })).toBe(WRONG.replace("ann", "nobody"));
  expect(await ask()).toBe("ann");
});

describe("a password that changes", () => {
  test("is in force at once while the engine runs", async () => {
    expect(await ask()).toBe("ann");
    await server.admin("alter role ann password 'two'");
    expect(await ask()).toBe(WRONG);
    expect(await ask({ password: "two" })).toBe("ann");
  });

  test("is in force at once with the salt of the old one", async () => {
    const verifierOf = async () => (await server.users()).find(({ name }) => name === "ann")?.verifier ?? "";
    const salt = /\$4096:([^$]+)\$/.exec(await verifierOf())?.[1] ?? "";
    const verifier = verifierWith("two", salt);
    await server.admin(`alter role ann password '${verifier}'`);
    expect(await ask()).toBe(WRONG);
    expect(await ask({ password: "two" })).toBe("ann");
  });

  test("is refused when its change at the engine went unseen by the gateway", async () => {
    await gateway.sleep();
    await server.run();
    await server.admin("alter role ann password 'two'");
    await server.stop();
    expect(await ask()).toBe(WRONG);
  });

  test("of a role that was created or dropped meanwhile is known", async () => {
    await server.admin("create role eve login password 'eve'");
    expect(await ask({ user: "eve", password: "eve" })).toBe("eve");
    await server.admin("drop role eve");
    expect(await ask({ user: "eve", password: "eve" })).toBe(WRONG.replace("ann", "eve"));
  });
});

describe("an engine that cannot serve", () => {
  test("passes its error on when it is full", async () => {
    const clients: Client[] = [];
    for (let count = 0; count < 9; count++) {
      const client = new Client({
        host: "127.0.0.1",
        port: gateway.port,
        user: "ann",
        password: "one",
        database: "main",
      });
      await client.connect();
      clients.push(client);
    }
    expect(await ask()).toStartWith("53300 ");
    for (const client of clients) await client.end();
    await until("there is room again", async () => (await ask()) === "ann");
  });

  test("holds clients while it recovers from a crash of one of its sessions", async () => {
    const [victim] = await server.admin<{ pid: number }>(
      "select pid from pg_stat_activity where backend_type = 'checkpointer'",
    );
    const login = { user: "ann", password: "one", database: "main" };
    const witness = new Client({ ...login, host: "127.0.0.1", port: gateway.port });
    witness.on("error", () => {});
    await witness.connect();
    const isCutOff = new Promise((resolve) => witness.once("end", resolve));
    process.kill(victim?.pid ?? 0, "SIGKILL");
    // Until the engine has noticed the crash, it lets clients in and ends them right after.
    await isCutOff;
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask()));
    expect(answers).toEqual(Array.from({ length: 5 }, () => "ann"));
  });

  test("gives an error that frameworks know when it cannot start", async () => {
    await gateway.sleep();
    gateway.onWake = () => gateway.become("failed", "The disk of the host is full.");
    expect(await ask()).toBe("57P03 failed to connect to upstream: The disk of the host is full.");
  });
});

/** A verifier in the form that Postgres stores, with a given salt. */
function verifierWith(password: string, salt: string): string {
  const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), 4096, 32, "sha256");
  const key = (name: string) => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(key("Client Key")).digest("base64");
  return `SCRAM-SHA-256$4096:${salt}$${stored}:${key("Server Key").toString("base64")}`;
}

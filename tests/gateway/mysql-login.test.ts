// Logins through the gateway at a real MariaDB: accepted clients, clients that wake it, and errors for all others.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { nativeVerifier } from "../../src/lib/verifiers.ts";
import { TestMariaDb } from "../support/engines/mariadb.ts";
import { MysqlGateway } from "../support/gateway/mysql-gateway.ts";
import {
  fixedPart,
  framed,
  handshakeResponse,
  nativeToken,
  RawMysql,
  saltOf,
} from "../support/wire/mysql-raw.ts";
import { MYSQL_CONNECT_TIMEOUT_MS } from "../support/pilvi/databases.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

let server: TestMariaDb;
let gateway: MysqlGateway;
let connections: (Connection | RawMysql)[] = [];

beforeAll(async () => {
  server = await TestMariaDb.start(["--max-connections=100"]);
  await server.admin("create database shop");
});
afterAll(() => server.stop());

beforeEach(async () => {
  await server.admin("create or replace user app@'%' identified by 'secret'");
  await server.admin("grant all on shop.* to app@'%'");
  gateway = new MysqlGateway(server);
  await gateway.learnUsers();
});
afterEach(async () => {
  for (const each of connections)
    if (each instanceof RawMysql) each.close();
    else each.destroy();
  connections = [];
  await gateway.close();
  // The engine may not have noticed yet that the connections have ended.
  await until("the engine admits its administrator", () =>
    server.admin("set global max_connections = 100").then(
      () => true,
      () => false,
    ),
  );
  expect(gateway.faults).toEqual([]);
});

function options(overrides: Partial<mysql.ConnectionOptions> = {}): mysql.ConnectionOptions {
  return {
    host: "127.0.0.1",
    port: gateway.port,
    user: "app",
    password: "secret",
    connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
    ...overrides,
  };
}

async function open(overrides: Partial<mysql.ConnectionOptions> = {}): Promise<Connection> {
  const connection = await mysql.createConnection(options(overrides));
  connections.push(connection);
  return connection;
}

function openRaw(address: number | string = gateway.port): RawMysql {
  const raw = new RawMysql(address);
  connections.push(raw);
  return raw;
}

/** The error that a login ends with. */
async function refusal(
  overrides: Partial<mysql.ConnectionOptions>,
): Promise<{ errno: number; text: string; state: string }> {
  try {
    await open(overrides);
  } catch (error) {
    const { errno, sqlMessage, sqlState } = error as mysql.QueryError & { sqlMessage: string };
    return { errno: errno ?? 0, text: sqlMessage, state: sqlState ?? "" };
  }
  throw new Error("the login went well");
}

async function one(connection: Connection, query: string): Promise<unknown> {
  const [rows] = await connection.query<RowDataPacket[]>(query);
  return Object.values(rows[0] ?? {})[0];
}

/** The parts of a greeting that are the same each time. */
function partsOf(greeting: Buffer) {
  const end = greeting.indexOf(0);
  const rest = greeting.subarray(end + 1);
  return {
    version: greeting
      .subarray(1, end)
      .toString()
      .replace(/-MariaDB.*/, "-MariaDB"),
    // Everything but the number, the salt and compression, whose flag is the sixth bit.
    fixed: Buffer.concat([Buffer.of((rest[13] ?? 0) & ~0x20), rest.subarray(14, 31)]).toString("hex"),
    lengths: [rest.length, rest.indexOf(0, 31)],
    plugin: rest.subarray(44).toString(),
  };
}

test("the gateway's greeting is the engine's own", async () => {
  const own = (await openRaw(server.socket).expectPacket()).payload;
  const shown = (await openRaw().expectPacket()).payload;
  expect(partsOf(shown)).toEqual(partsOf(own));
});

test("a client that proves a password wakes a sleeping engine, and is named in the wake", async () => {
  await gateway.sleep();
  const connection = await open({ database: "shop", connectAttributes: { program_name: "worker" } });
  expect(await one(connection, "select database()")).toBe("shop");
  expect(gateway.wakes).toHaveLength(1);
  expect(gateway.wakes[0]).toMatchObject({ user: "app", database: "shop", application: "worker" });
  expect(gateway.wakes[0]?.address).toMatch(/^127\.0\.0\.1:\d+$/);
});

describe.each(["asleep", "running"] as const)("while it is %s", (state) => {
  beforeEach(async () => {
    if (state === "asleep") await gateway.sleep();
  });
  afterEach(() => expect(gateway.wakes).toEqual([]));

  test.each([
    ["a wrong password", { password: "wrong" }],
    ["no password", { password: "" }],
    ["an unknown user", { user: "nobody" }],
    ["the engine's administrator", { user: "root" }],
    ["the engine's administrator without a password", { user: "root", password: "" }],
    ["nobody's name", { user: "" }],
  ])("%s is refused as the engine does it", async (_, overrides) => {
    const { user = "app", password = "secret" } = overrides as { user?: string; password?: string };
    expect(await refusal(overrides)).toEqual({
      errno: 1045,
      state: "28000",
      text: `Access denied for user '${user}'@'127.0.0.1' (using password: ${password === "" ? "NO" : "YES"})`,
    });
  });
});

test("the administrator is refused even when the host sends a password for it", async () => {
  const [{ name } = { name: "" }] = await server.admin<{ name: string }>(
    "select substring_index(user(), '@', 1) name",
  );
  gateway.update({ users: [{ name, verifier: nativeVerifier("secret") }] });
  expect((await refusal({ user: name })).errno).toBe(1045);
  gateway.update({ users: [{ name: "app", verifier: "" }] });
  expect((await refusal({ password: "" })).errno).toBe(1045);
});

describe("a password that is changed while the engine runs", () => {
  beforeEach(async () => {
    const connection = await open();
    await connection.query("set password = password('newer')");
  });

  test("is accepted at once", async () => {
    const connection = await open({ password: "newer" });
    expect(await one(connection, "select current_user()")).toBe("app@%");
    expect(gateway.count("users")).toBe(1);
  });

  test("invalidates the old password at once", async () => {
    expect((await refusal({})).errno).toBe(1045);
  });

  test("is known while the cluster sleeps", async () => {
    await gateway.sleep();
    expect((await refusal({})).errno).toBe(1045);
    expect(gateway.wakes).toEqual([]);
    await open({ password: "newer" });
    expect(gateway.wakes).toHaveLength(1);
  });
});

describe("the engine's own errors are passed on", () => {
  test("an unknown database", async () => {
    expect(await refusal({ database: "nowhere" })).toEqual({
      errno: 1044,
      state: "42000",
      text: "Access denied for user 'app'@'%' to database 'nowhere'",
    });
  });

  test("too many connections", async () => {
    await server.admin("set global max_connections = 10");
    const crowd = Array.from({ length: 11 }, () => openRaw(server.socket));
    for (const each of crowd) await each.packet();
    const raw = openRaw();
    const { payload: greeting } = await raw.expectPacket();
    raw.send(1, handshakeResponse({ user: "app", proof: nativeToken("secret", saltOf(greeting)) }));
    const { sequence, payload } = await raw.expectPacket();
    expect({ sequence, code: payload.readUInt16LE(1), text: payload.toString("latin1", 3) }).toEqual({
      sequence: 2,
      code: 1040,
      text: "#08004Too many connections",
    });
    expect(await raw.packet()).toBeNull();
  });
});

describe("the authentication plugin of the client", () => {
  test.each(["caching_sha2_password", "client_ed25519", "sha256_password"])(
    "%s is switched to the plugin of the gateway",
    async (plugin) => {
      const raw = openRaw();
      const { payload: greeting } = await raw.expectPacket();
      raw.send(1, handshakeResponse({ user: "app", proof: Buffer.alloc(32, 1), plugin }));
      const { sequence, payload } = await raw.expectPacket();
      expect(sequence).toBe(2);
      expect(payload.toString("latin1", 0, 23)).toBe("\xfemysql_native_password\0");
      expect(payload.subarray(23, 43)).toEqual(saltOf(greeting));
      raw.send(3, nativeToken("secret", payload.subarray(23, 43)));
      const answer = await raw.expectPacket();
      expect([answer.sequence, answer.payload[0]]).toEqual([4, 0]);
      raw.send(0, Buffer.of(14));
      expect((await raw.expectPacket()).payload[0]).toBe(0);
    },
  );

  test("a client that switches its plugin and sends no password is refused with error 1045", async () => {
    const raw = openRaw();
    await raw.expectPacket();
    raw.send(1, handshakeResponse({ user: "app", plugin: "caching_sha2_password" }));
    await raw.expectPacket();
    raw.send(3, Buffer.alloc(0));
    const { sequence, payload } = await raw.expectPacket();
    expect([sequence, payload.readUInt16LE(1)]).toEqual([4, 1045]);
    expect(await raw.packet()).toBeNull();
  });
});

async function showsTls(port: number): Promise<boolean> {
  const { payload } = await openRaw(port).expectPacket();
  return (payload.readUInt16LE(payload.indexOf(0) + 14) & 0x0800) !== 0;
}

describe("TLS", () => {
  const folder = new CertificateFolder();
  let secured: MysqlGateway;

  beforeEach(async () => {
    const context = new TlsCertificates(await folder.newPair("server"));
    secured = new MysqlGateway(server, { certificates: context, mustStartTls: true });
    await secured.learnUsers();
  });
  afterEach(async () => {
    await secured.close();
    expect(secured.faults).toEqual([]);
  });
  afterAll(() => folder.remove());

  test("is established on request, before the client names its user", async () => {
    await secured.sleep();
    const overrides = { port: secured.port, database: "shop", ssl: { ca: folder.read("server.crt") } };
    const connection = await open(overrides);
    expect(await one(connection, "select database()")).toBe("shop");
    expect((await refusal({ ...overrides, password: "wrong" })).errno).toBe(1045);
    expect(secured.wakes).toHaveLength(1);
  });

  test("is required where the spec requires it", async () => {
    await secured.sleep();
    expect(await refusal({ port: secured.port })).toMatchObject({ errno: 3159, state: "HY000" });
    expect(secured.wakes).toEqual([]);
  });

  test("is offered in the greeting alone", async () => {
    expect([await showsTls(secured.port), await showsTls(gateway.port)]).toEqual([true, false]);
  });

  test("bytes that are not TLS after a request for it end the connection", async () => {
    const raw = openRaw(secured.port);
    await raw.expectPacket();
    const plain = framed(2, handshakeResponse({ user: "app" }));
    await raw.write(Buffer.concat([framed(1, fixedPart(0x0200 | 0x0800)), plain]));
    // At most a TLS alert arrives, which is no packet.
    expect(await raw.packet()).toBeNull();
  });
});

test.each([
  ["zlib", 0x20],
  ["zstd", 0x0400_0000],
])(
  "compression with %s is refused with its reason, since the greeting does not offer it",
  async (_, flags) => {
    await gateway.sleep();
    const raw = openRaw(gateway.port);
    const { payload: greeting } = await raw.expectPacket();
    raw.send(1, handshakeResponse({ user: "app", proof: nativeToken("secret", saltOf(greeting)), flags }));
    const { payload } = await raw.expectPacket();
    expect(payload.readUInt16LE(1)).toBe(1043);
    expect(payload.toString("latin1", 9)).toContain("does not offer compression");
    expect(await raw.packet()).toBeNull();
    expect(gateway.wakes).toEqual([]);
  },
);

describe("an engine that cannot start", () => {
  test("is reported as a failed link, with the reason, to a client with a valid password", async () => {
    await gateway.sleep();
    gateway.onWake = () => gateway.become("failed", "The disk of the host is full.");
    expect(await refusal({})).toEqual({ errno: 1053, state: "08S01", text: "The disk of the host is full." });
  });

  test("holds clients while it starts, and then lets them in", async () => {
    await gateway.sleep();
    gateway.onWake = () => gateway.become("starting");
    const held = open();
    await until("the engine is asked for", () => gateway.wakes.length === 1);
    gateway.become("running");
    expect(await one(await held, "select 1")).toBe(1);
  });

  test("holds a client with a wrong password while the engine cannot check it", async () => {
    gateway.become("starting");
    const held = refusal({ password: "wrong" });
    gateway.become("running");
    expect((await held).errno).toBe(1045);
    expect(gateway.wakes).toEqual([]);
  });
});

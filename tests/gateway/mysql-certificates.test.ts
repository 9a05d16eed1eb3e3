// Clients that have no authority for the gateway's certificate, and verify it by their password, as from MariaDB 11.4 on.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import * as mariadb from "mariadb";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { sealLoginKey } from "../../src/lib/login-keys.ts";
import { nativeVerifier } from "../../src/lib/verifiers.ts";
import { TestMariaDb } from "../support/engines/mariadb.ts";
import { MYSQL_CONNECT_TIMEOUT_MS } from "../support/pilvi/databases.ts";
import { MysqlGateway } from "../support/gateway/mysql-gateway.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const folder = new CertificateFolder();
let server: TestMariaDb;
let certificates: TlsCertificates;
let gateway: MysqlGateway;

beforeAll(async () => {
  server = await TestMariaDb.start();
  await server.admin("create database shop");
  await server.admin("create user app@'%' identified by 'secret'");
  await server.admin("grant all on shop.* to app@'%'");
  certificates = new TlsCertificates(await folder.newPair("server"));
});
afterAll(async () => {
  folder.remove();
  await server.stop();
});

beforeEach(async () => {
  gateway = new MysqlGateway(server, { certificates, mustStartTls: true });
  await gateway.learnUsers();
  // The greeting says so; the engine behind it may be older.
  gateway.update({ engine: { name: "mariadb", version: "11.4.2" } });
});
afterEach(async () => {
  await gateway.close();
  expect(gateway.faults).toEqual([]);
});

/** Connects with TLS and no authority. @returns the database that the session is in. */
async function connect(password: string): Promise<unknown> {
  const account = { host: "127.0.0.1", port: gateway.port, user: "app", password, database: "shop" };
  const connection = await mariadb.createConnection({
    ...account,
    ssl: true,
    connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
  });
  const [row] = await connection.query<{ name: string }[]>("select database() name");
  await connection.end();
  return row?.name;
}

test("a client accepts the certificate for which the gateway proves its password", async () => {
  expect(await connect("secret")).toBe("shop");
});

test("a client with the former password gets a proof of that password", async () => {
  const [verifier, former] = [nativeVerifier("secret"), nativeVerifier("former")];
  const sealedKey = sealLoginKey(hashOf("secret"), hashOf("former"), verifier);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  gateway.update({ users: [{ name: "app", verifier, former: { verifier: former, sealedKey, expiresAt } }] });
  expect(await connect("former")).toBe("shop");
});

test("a client refuses another certificate than the gateway's", async () => {
  const other = new TlsCertificates(await folder.newPair("other"));
  gateway.policy = {
    ...gateway.policy,
    certificates: {
      find: (name) => ({ ...certificates.find(name), fingerprint: other.find(name).fingerprint }),
    },
  };
  await expect(connect("secret")).rejects.toThrow("self-signed certificate");
});

function hashOf(password: string): Uint8Array {
  return new Bun.CryptoHasher("sha1").update(password).digest();
}

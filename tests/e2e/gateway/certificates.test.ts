// Several certificates of a Pilvi: each client gets the certificate of the server name that it asks for, and renewals
// without a restart.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { Redis } from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
  POSTGRES,
} from "../../support/pilvi/databases.ts";
import { startPilvi, TOKEN, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { CertificateFolder, ECDSA_KEY } from "../../support/wire/tls-sessions.ts";

const DEFAULT = "first.test";
const EXACT = "db.example.com";
const WILDCARD = "*.example.com";
const LOCAL = "localhost";
const RENEWED = "renewed.test";

const folder = new CertificateFolder();
let pilvi: TestPilvi;
let postgres: DatabaseClusterResource;
let mysql: DatabaseClusterResource;
let cache: CacheResource;

beforeAll(async () => {
  for (const [name, host] of Object.entries({ first: DEFAULT, wildcard: WILDCARD, renewed: RENEWED })) {
    await folder.newPair(name, ECDSA_KEY, host);
  }
  mkdirSync(folder.file("more/wildcard"), { recursive: true });
  await folder.newPair("more/exact", ECDSA_KEY, EXACT);
  await folder.newPair("more/local", ECDSA_KEY, LOCAL);
  copyFileSync(folder.file("wildcard.crt"), folder.file("more/wildcard/fullchain.pem"));
  copyFileSync(folder.file("wildcard.key"), folder.file("more/wildcard/privkey.pem"));
  show("first");
  pilvi = await startPilvi({
    env: {
      PILVI_TLS_CERT: folder.file("shown.crt"),
      PILVI_TLS_KEY: folder.file("shown.key"),
      PILVI_TLS_DIR: folder.file("more"),
    },
  });
  postgres = await createCluster(pilvi, { type: POSTGRES });
  mysql = await createCluster(pilvi, { type: MYSQL });
  cache = await pilvi.createCache({ uses_hibernation: true });
});

afterAll(async () => {
  await pilvi.close();
  folder.remove();
});

/** Replaces the default pair, the key first, as a careless renewal would. */
function show(name: string): void {
  copyFileSync(folder.file(`${name}.key`), folder.file("shown.key"));
  copyFileSync(folder.file(`${name}.crt`), folder.file("shown.crt"));
}

/** The name of the certificate that the API presents. */
function apiShows(servername?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port: pilvi.port, host: "127.0.0.1", rejectUnauthorized: false };
    const socket = connect({ ...options, ...(servername === undefined ? {} : { servername }) }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Logs in with trust in that certificate alone, for the name that the client asks for. */
function loginPostgres(ca: string, servername: string) {
  return connectPg(postgres, { host: "127.0.0.1", ssl: { ca: folder.read(ca), servername } });
}

function loginCache(ca: string, servername: string): Redis {
  const { port, username = "", password = "" } = cache.attributes.connection;
  const tls = { ca: folder.read(ca), servername };
  return new Redis({ host: "127.0.0.1", port, username, password, tls, retryStrategy: () => null });
}

const CHOICES = [
  [EXACT, "more/exact.crt"],
  ["cache.example.com", "wildcard.crt"],
  [LOCAL, "more/local.crt"],
  [DEFAULT, "first.crt"],
] as const;

describe.each(CHOICES)("a client that asks for %s", (servername, file) => {
  test("gets the certificate for that name, in Postgres, in a cache and in the API", async () => {
    const client = await loginPostgres(file, servername);
    expect(await firstOf(client, "select '42'")).toBe("42");
    await client.end();
    const redis = loginCache(file, servername);
    expect(await redis.ping()).toBe("PONG");
    redis.disconnect();
    expect(await apiShows(servername)).toBe(servername.startsWith("cache.") ? WILDCARD : servername);
  });
});

test("a client of MySQL gets the certificate for the name that it connects to", async () => {
  const client = await connectMysql(mysql, { host: LOCAL, ssl: { ca: folder.read("more/local.crt") } });
  expect(await firstOfMysql(client, "select '42'")).toBe("42");
  await client.end();
});

test("a client that asks for no name, or an unknown name, gets the default", async () => {
  expect(await apiShows()).toBe(DEFAULT);
  expect(await apiShows("elsewhere.test")).toBe(DEFAULT);
});

test("a start presents its certificates once", () => {
  const log = readFileSync(join(pilvi.dataDir, "log", "control.log"), "utf8");
  expect(log).not.toContain("renewed certificates are shown");
});

test("a broken file changes nothing, and is logged", async () => {
  writeFileSync(folder.file("shown.crt"), "nothing");
  const file = join(pilvi.dataDir, "log", "host.log");
  await until("the host logs the fault", () =>
    readFileSync(file, "utf8").includes("a certificate cannot be shown"),
  );
  expect(await apiShows()).toBe(DEFAULT);
  await (await loginPostgres("first.crt", DEFAULT)).end();
  show("first");
});

test("a renewed certificate is presented to new clients, while sessions and requests go on", async () => {
  const session = await loginPostgres("first.crt", DEFAULT);
  const redis = loginCache("first.crt", DEFAULT);
  await redis.set("kept", "yes");
  const load = new Load();
  show("renewed");
  await until("the API shows it", async () => (await apiShows()) === RENEWED);
  await until("the gateway shows it", async () => {
    const client = await loginPostgres("renewed.crt", RENEWED).catch(() => null);
    await client?.end();
    return client !== null;
  });
  expect(await load.stop()).toEqual([]);
  expect(load.answers).toBeGreaterThan(0);
  expect(await firstOf(session, "select '42'")).toBe("42");
  await session.end();
  expect(await redis.get("kept")).toBe("yes");
  redis.disconnect();
  expect(await apiShows(EXACT)).toBe(EXACT);
});

/** Clients of the API that use a new connection for each request, and collect errors. */
class Load {
  answers = 0;
  readonly #faults: unknown[] = [];
  readonly #clients: Promise<void>[];
  #isStopping = false;

  constructor() {
    this.#clients = Array.from({ length: 4 }, () => this.#ask());
  }

  /** @returns the errors. */
  async stop(): Promise<unknown[]> {
    this.#isStopping = true;
    await Promise.all(this.#clients);
    return this.#faults;
  }

  async #ask(): Promise<void> {
    while (!this.#isStopping) {
      try {
        const { status } = await fetch(`https://127.0.0.1:${pilvi.port}/api/caches`, {
          headers: { authorization: `Bearer ${TOKEN}`, connection: "close" },
          keepalive: false,
          tls: { rejectUnauthorized: false },
        });
        if (status === 200 || status === 429) this.answers += 1;
        else this.#faults.push(status);
      } catch (error) {
        this.#faults.push(error);
      }
    }
  }
}

// Public resources behind the gateway of a Pilvi with a certificate: TLS with that certificate for all, plain text on
// loopback alone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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
} from "../../support/pilvi/databases.ts";
import { ownAddress, type OwnAddress } from "../../support/pilvi/own-address.ts";
import { startPilvi, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { Queries } from "../../support/pilvi/queries.ts";
import { runProgram } from "../../support/clients/programs.ts";
import { Sleeper } from "../../support/pilvi/sleepers.ts";
import { CertificateFolder } from "../../support/wire/tls-sessions.ts";

/** The address a client connects to, and the only certificate that it trusts; in clear without a certificate. */
interface Way {
  host: string;
  ca?: string;
}

const folder = new CertificateFolder();
let certificate: string;
/** A certificate of the same name that is not the configured one. */
let other: string;
let elsewhere: OwnAddress;
let pilvi: TestPilvi;

beforeAll(async () => {
  certificate = (await folder.newPair("configured")).cert;
  other = (await folder.newPair("other")).cert;
  elsewhere = await ownAddress();
  pilvi = await startPilvi({
    env: {
      PILVI_BIND: "0.0.0.0",
      PILVI_PUBLIC_HOST: "127.0.0.1",
      PILVI_TLS_CERT: folder.file("configured.crt"),
      PILVI_TLS_KEY: folder.file("configured.key"),
    },
  });
});

afterAll(async () => {
  await pilvi.close();
  await elsewhere.release();
  folder.remove();
});

/** The name of the certificate, also where the client knows only an address. */
function tlsOf(ca: string) {
  return { ca, servername: "localhost" };
}

async function askCache({ attributes }: CacheResource, { host, ca }: Way): Promise<unknown> {
  const { port, username = "", password = "" } = attributes.connection;
  const client = new Redis({
    host,
    port,
    username,
    password,
    lazyConnect: true,
    retryStrategy: () => null,
    ...(ca === undefined ? {} : { tls: tlsOf(ca) }),
  });
  const failed = new Promise<never>((_, reject) => client.once("error", reject));
  const answer = client.connect().then(() => client.echo("42"));
  // The client's first error says more than the error of the waiting calls.
  answer.catch(() => undefined);
  return await Promise.race([failed, answer]).finally(() => client.disconnect());
}

async function askPostgres(cluster: DatabaseClusterResource, { host, ca }: Way): Promise<unknown> {
  const client = await connectPg(cluster, { host, ssl: ca === undefined ? false : tlsOf(ca) });
  return await firstOf(client, "select '42'").finally(() => client.end());
}

async function askMysql(cluster: DatabaseClusterResource, { host, ca }: Way): Promise<unknown> {
  const client = await connectMysql(cluster, { host, ...(ca === undefined ? {} : { ssl: { ca } }) });
  return await firstOfMysql(client, "select '42'").finally(() => client.end());
}

interface Kind {
  name: string;
  /** Creates a public resource. `ask` sends it a query whose answer is 42. */
  make(): Promise<{ resource: CacheResource | DatabaseClusterResource; ask(way: Way): Promise<unknown> }>;
  canSleep: boolean;
  /** Whether psql is its client. */
  hasPsql?: true;
  /** A statement that takes longer than any test; left out for a resource without statements. */
  endless?: string;
  /** The protocol's own refusal of plain text. */
  refusal: object;
}

const KINDS: Kind[] = [
  {
    name: "a cache that hibernates",
    async make() {
      const resource = await pilvi.createCache({ is_public: true, uses_hibernation: true });
      expect(resource.attributes.connection.protocol).toBe("rediss");
      return { resource, ask: (way) => askCache(resource, way) };
    },
    canSleep: true,
    refusal: { message: "ERR This cache takes connections with TLS only." },
  },
  {
    name: "a cache that never hibernates",
    async make() {
      const resource = await pilvi.createCache({ is_public: true });
      expect(resource.attributes.connection.protocol).toBe("rediss");
      return { resource, ask: (way) => askCache(resource, way) };
    },
    canSleep: false,
    refusal: { message: "ERR This cache takes connections with TLS only." },
  },
  {
    name: "a MySQL",
    async make() {
      const resource = await createCluster(pilvi, { type: MYSQL, config: { is_public: true } });
      return { resource, ask: (way) => askMysql(resource, way) };
    },
    canSleep: true,
    endless: "select sleep(1000)",
    refusal: { errno: 3159, message: expect.stringContaining("insecure transport are prohibited") as string },
  },
  {
    name: "a Postgres",
    async make() {
      const attributes = { type: "provider_managed_postgres", config: { is_public: true } };
      const resource = await createCluster(pilvi, attributes);
      return { resource, ask: (way) => askPostgres(resource, way) };
    },
    canSleep: false,
    hasPsql: true,
    endless: "select pg_sleep(1000)",
    refusal: { code: "28000", message: expect.stringContaining("encrypted connections only") as string },
  },
];

describe.each(KINDS)("$name", ({ make, canSleep, hasPsql = false, endless, refusal }) => {
  let resource: CacheResource | DatabaseClusterResource;
  let ask: (way: Way) => Promise<unknown>;
  let sleeper: Sleeper;
  beforeAll(async () => {
    ({ resource, ask } = await make());
    sleeper = new Sleeper(pilvi, resource);
  });

  /** Makes an attempt that must not wake it, if it can sleep. */
  function errorOf<T>(attempt: () => Promise<T>): Promise<T> {
    return canSleep ? sleeper.sleepsThrough(attempt) : attempt();
  }

  test("presents the configured certificate, at its published address and at any other", async () => {
    for (const host of [resource.attributes.connection.hostname, elsewhere.address]) {
      if (canSleep) await sleeper.sleep();
      expect(await ask({ host, ca: certificate })).toBe("42");
      const error: unknown = await errorOf(() => ask({ host, ca: other }).catch((caught: unknown) => caught));
      expect(error).toMatchObject({ message: expect.stringMatching(/certificate/i) as string });
    }
  });

  test("refuses plain text from anywhere but loopback, in words of its protocol", async () => {
    const error: unknown = await errorOf(() =>
      ask({ host: elsewhere.address }).catch((caught: unknown) => caught),
    );
    expect(error).toMatchObject(refusal);
    expect(await ask({ host: "127.0.0.1" })).toBe("42");
  });

  if (endless === undefined) return;

  test("runs a statement of the API at its published address, and cancels it at its deadline", async () => {
    const queries = await Queries.in(pilvi, resource);
    expect((await queries.result("select '42'")).rows).toEqual([["42"]]);
    const { body } = await queries.answer(endless, { timeout_seconds: 1 });
    expect(body.message).toBe("The statement was not done after 1 s and was canceled.");
  });

  if (!hasPsql) return;

  test("psql with sslmode=allow goes on with TLS where plain text is refused", async () => {
    const { port, username = "", password = "" } = resource.attributes.connection;
    const env = { PGPORT: String(port), PGUSER: username, PGPASSWORD: password, PGSSLMODE: "allow" };
    const psql = (host: string) =>
      runProgram(["psql", "-X", "-d", "main", "-c", "\\conninfo"], { ...env, PGHOST: host });
    expect(await psql(elsewhere.address)).toContain("TLSv1.3");
    expect(await psql("127.0.0.1")).not.toContain("TLSv1.3");
  });
});

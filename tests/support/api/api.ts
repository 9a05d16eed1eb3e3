// A whole API for tests: a real store, a real server on a free port, and a client with a token.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp, type App, type AppOptions } from "../../../src/api/app.ts";
import { Upgrade, upgradedSockets } from "../../../src/api/http/upgrade.ts";
import { createToken, type TokenLimits } from "../../../src/api/auth/tokens.ts";
import type { Offer } from "../../../src/contracts/host-answers.ts";
import type { Driver } from "../../../src/drivers/driver.ts";
import type { WatchedArchives } from "../../../src/resources/shared/backups/archive-states.ts";
import { hostDirectory, servedHost } from "../../../src/resources/shared/hosts.ts";
import { WatchedStates } from "../../../src/resources/shared/observed-states.ts";
import { createLog } from "../../../src/lib/log.ts";
import { Vault } from "../../../src/lib/secrets.ts";
import { allOperations, allProtocols, kindContext, kinds } from "../../../src/resources/index.ts";
import type { Quotas } from "../../../src/lib/quota-settings.ts";
import type { KindContext, ServedHost } from "../../../src/resources/kind.ts";
import { Repositories } from "../../../src/sources/repositories.ts";
import type { Database } from "../../../src/store/database.ts";
import { freshDatabase } from "../engines/postgres.ts";

export interface TestApi {
  db: Database;
  app: App;
  context: KindContext;
  /** The host of all resources; tests may change its answers and the behaviour of its driver. */
  host: ServedHost & { observedStates: WatchedStates; archiveStates: WatchedArchives };
  /** For example `http://127.0.0.1:40000`. */
  origin: string;
  /** A token with all abilities for the organization `default`. */
  token: string;
  /** Engines that the driver reports; tests may change it. */
  offer: Offer;
  newToken(abilities: string[], organizationName?: string, limits?: TokenLimits): Promise<string>;
  request(path: string, init?: RequestInit & { token?: string | null; json?: unknown }): Promise<Response>;
  stop(): Promise<void>;
}

const NO_QUOTAS: Quotas = {
  resources: 0,
  caches: 0,
  databases: 0,
  websockets: 0,
  applications: 0,
  memoryBytes: 0,
  storageBytes: 0,
  connections: 0,
  ports: 0,
};

/** An existing store; the API replaces its host. */
export interface TestStore {
  db: Database;
  key: Uint8Array;
  hostId: string;
}

export interface TestApiOptions extends Partial<AppOptions> {
  portRange?: ServedHost["portRange"];
  quotas?: Partial<Quotas>;
  /** Whether commits may be fetched from this machine. */
  mayReachItself?: boolean;
  /** A new store when left out. */
  store?: TestStore;
}

/** Starts an API; stop it at the end of the test file. */
export async function startApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { db, key, hostId } = options.store ?? (await freshStore());
  const offer: Offer = {
    engines: [
      { name: "valkey", version: "8.0.6", major: "8" },
      { name: "postgres", version: "17.6", major: "17" },
      { name: "postgres", version: "18.1", major: "18" },
      { name: "mariadb", version: "10.11.19", major: "10.11" },
    ],
    memoryBytes: 8 * 1024 ** 3,
  };
  const host = servedHost(
    {
      id: hostId,
      driver: offeringDriver(offer),
      hostnames: { loopback: "127.0.0.1", public: "cloud.example" },
      isTls: false,
      portRange: options.portRange ?? { first: 21_000, last: 21_999 },
    },
    new WatchedStates(),
  );
  const log = createLog("test", "silent");
  const sources = mkdtempSync(join(tmpdir(), "pilvi-sources-"));
  const context = kindContext({
    db,
    vault: new Vault(key),
    hosts: hostDirectory([host]),
    quotas: { ...NO_QUOTAS, ...options.quotas },
    edge: { domain: "localhost", httpPort: 8_080, httpsPort: null },
    repositories: new Repositories(sources, { mayReachItself: options.mayReachItself ?? false }),
    log,
  });
  const app = await createApp({
    db,
    log,
    operations: allOperations(context),
    protocols: allProtocols(context),
    kinds: kinds.map(({ name }) => name),
    hostnames: ["cloud.example"],
    isPublic: false,
    rateLimitPerMinute: 0,
    readiness: {},
    consoleDir: "/nonexistent",
    ...options,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, served) {
      const upgrade = new Upgrade(request, served);
      const response = await app.fetch(request, { upgrade: upgrade.run });
      return upgrade.isDone ? undefined : response;
    },
    websocket: upgradedSockets,
    idleTimeout: 120,
    maxRequestBodySize: 1024 ** 3,
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const kindNames = kinds.map(({ name }) => name);
  const newToken = async (abilities: string[], organizationName = "default", limits: TokenLimits = {}) =>
    (await createToken(db, kindNames, { organizationName, name: "test", abilities, limits })).token;
  const token = await newToken(["*"]);
  return {
    db,
    app,
    context,
    host,
    origin,
    token,
    offer,
    newToken,
    request: async (path, { token: own = token, json, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (own !== null) headers.set("Authorization", `Bearer ${own}`);
      if (json === undefined) return await fetch(origin + path, { ...init, headers });
      headers.set("Content-Type", "application/json");
      return await fetch(origin + path, { method: "POST", ...init, headers, body: JSON.stringify(json) });
    },
    stop: async () => {
      await server.stop(true);
      await app.close();
      await db.close();
      rmSync(sources, { recursive: true, force: true });
    },
  };
}

async function freshStore(): Promise<TestStore> {
  const db = await freshDatabase();
  await db`insert into hosts (id, name) values ('host-1', 'test')`;
  return { db, key: randomBytes(32), hostId: "host-1" };
}

const notUsed = () => {
  throw new Error("the API must not ask the driver for this");
};

/**
 * The API asks a driver for its offer, for free ports and for figures; everything else is the reconciler's. Tests set
 * figures themselves.
 */
function offeringDriver(offer: Offer): Driver {
  return {
    offer: async () => offer,
    ensure: notUsed,
    end: notUsed,
    remove: notUsed,
    suspend: notUsed,
    observe: notUsed,
    figures: notUsed,
    debug: notUsed,
    logs: notUsed,
    environmentLogs: notUsed,
    queries: notUsed,
    cancel: notUsed,
    statements: notUsed,
    resetStatements: notUsed,
    backUp: notUsed,
    archives: notUsed,
    archive: notUsed,
    deleteBackup: notUsed,
    deleteArchive: notUsed,
    retain: notUsed,
    planRestore: notUsed,
    verify: notUsed,
    storage: notUsed,
    readings: notUsed,
    freePorts: async (ports) => ports,
    journal: notUsed,
    ensureRoute: notUsed,
    removeRoute: notUsed,
    wakeRoute: notUsed,
    routes: notUsed,
    probeEdge: notUsed,
    build: notUsed,
    observeBuild: notUsed,
    openTerminal: notUsed,
    buildLog: notUsed,
    cancelBuild: notUsed,
    removeBuild: notUsed,
    release: notUsed,
    removeRelease: notUsed,
    removeEnvironment: notUsed,
    watch: notUsed,
  };
}

/** The sleep of an instance that the driver has not observed. */
export const UNSEEN = { state: "awake", since: null, wakes: 0, last_wake: null, pending: false };

/** A valid request for a cache. */
export const validCache = {
  type: "platform_valkey",
  name: "sessions",
  region: "eu-central-1",
  size: "valkey-flex-250mb",
};

/** A valid request for a WebSocket cluster. */
export const validServer = {
  name: "chat",
  type: "builtin",
  region: "eu-central-1",
  max_connections: 100,
};

/** A valid request for a database cluster. */
export const validDatabase = {
  type: "hosted_serverless_postgres",
  name: "orders",
  region: "eu-central-1",
};

// The store that Pilvi runs itself: a Postgres that is an instance of the host like any other, reached through its unix
// socket.
import type { Config } from "../../config.ts";
import type { PostgresSpec } from "../../contracts/instance-spec.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import type { Driver } from "../../drivers/driver.ts";
import { postgres } from "../../engines/postgres/index.ts";
import { STORE_ENGINE } from "../../engines/registry.ts";
import { enginePaths, instanceFolder } from "../../host/os/layout.ts";
import { messageOf, Refusal } from "../../lib/errors.ts";
import type { Vault } from "../../lib/secrets.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import { scramVerifier } from "../../lib/verifiers.ts";
import {
  openDatabase,
  type Database,
  type DatabaseAddress,
  type DatabaseOptions,
} from "../../store/database.ts";

const NAME = "pilvi";

/** Enough for some processes with ten connections each, and rows by the thousand. */
const STORE_RESOURCES = { memoryBytes: 256 * 1024 ** 2, cpus: null, maxConnections: 100 };

/** The address of the store. The password follows from the key, so nothing has to be kept for it. */
export function storeAddress(config: Config, vault: Vault): DatabaseAddress {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl };
  const folder = instanceFolder(config.dataDir, STORE_ID);
  const { socket } = enginePaths(folder, postgres.socketName(storeSpec(vault)));
  return {
    socketPath: socketAddress(socket),
    username: NAME,
    password: vault.derivePassword("store"),
    database: NAME,
  };
}

/**
 * Opens a pool and tries it.
 * @throws Refusal when the store cannot be used.
 */
export async function openStore(address: DatabaseAddress, options: DatabaseOptions = {}): Promise<Database> {
  const db = openDatabase(address, options);
  try {
    await db`select 1`;
    return db;
  } catch (error) {
    await db.close();
    const what = "url" in address ? "The Postgres that PILVI_DATABASE_URL names" : "The store";
    throw new Refusal(`${what} cannot be used: ${messageOf(error).replace(/\.$/, "")}.`, error);
  }
}

/** Has the host run the store, unless the settings name another Postgres. */
export async function ensureStore(config: Config, vault: Vault, driver: Driver): Promise<void> {
  if (config.databaseUrl !== undefined) return;
  const seen = await driver.ensure(storeSpec(vault));
  if (seen.state !== "running") throw new Refusal(`The store did not start: ${seen.lastError}`);
}

/** The spec of the store. Its log is kept, so that a lost machine costs no more than its latest seconds. */
export function storeSpec(vault: Vault): PostgresSpec {
  return {
    kind: "postgres",
    id: STORE_ID,
    engines: [STORE_ENGINE],
    users: [{ name: NAME, verifier: scramVerifier(vault.derivePassword("store"), STORE_ID) }],
    databases: [{ name: NAME, owner: NAME, desiredState: "present" }],
    version: null,
    ...STORE_RESOURCES,
    exposure: { port: null, scope: "loopback", through: "engine" },
    sleepAfterSeconds: null,
    keepsLog: true,
  };
}

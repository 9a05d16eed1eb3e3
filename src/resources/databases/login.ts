// Logs into a database cluster as its customer does; only a working login makes the cluster available.
import { SQL } from "bun";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { presentable } from "../../lib/presentable.ts";
import type { KindContext } from "../kind.ts";
import { exposureOf } from "./exposure.ts";
import type { DatabaseClusterRow } from "./store.ts";
import { protocolOf, type Protocol } from "./types.ts";

/** A connection on the same machine takes milliseconds; a login that takes longer is tried again. */
const LOGIN_TIMEOUT_SECONDS = 5;

/** The longest part of an engine's error message, which may quote text of a customer. */
const MAX_REASON_CHARACTERS = 300;

/**
 * A database that every engine has and every user may enter. Without a name, Bun would choose a database that is closed
 * to customers.
 */
const NOBODYS_DATABASES = { postgres: "postgres", mysql: "information_schema" };

/** The address and the credentials of a cluster. */
export interface DatabaseClusterLogin {
  protocol: Protocol;
  hostname: string;
  port: number;
  username: string;
  password: string;
  /** Whether other machines reach the cluster as well, so that it may demand TLS. */
  isPublic: boolean;
  /** An existing database; undefined when the cluster has no database. */
  database: string | undefined;
}

/** The login of a cluster's customer, without a database. */
export function loginOf(
  cluster: DatabaseClusterRow,
  { hosts, vault }: KindContext,
): Omit<DatabaseClusterLogin, "database"> {
  const { scope } = exposureOf(cluster);
  return {
    protocol: protocolOf(cluster.type),
    hostname: hosts.of(cluster.hostId).hostnames[scope],
    isPublic: scope === "public",
    port: cluster.port,
    username: cluster.username,
    password: vault.open(cluster.sealedPassword, cluster.id),
  };
}

/**
 * Logs in as the customer does, and after a failure once more without the customer's database: a customer may lock
 * itself out of that database, or fill it with sessions, while the cluster serves all the same.
 * @throws PublicError when the cluster is unreachable at its address or refuses the credentials.
 */
export async function ensureLogin(login: DatabaseClusterLogin): Promise<void> {
  const { protocol, database } = login;
  try {
    await logIn(login);
  } catch (error) {
    if (database === undefined) throw error;
    await logIn({ ...login, database: NOBODYS_DATABASES[protocol] }).catch(() => {
      throw error;
    });
  }
}

async function logIn(login: DatabaseClusterLogin): Promise<void> {
  const { protocol, hostname, port, username, password, isPublic } = login;
  const address = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  const database = login.database ?? NOBODYS_DATABASES[protocol];
  // The login tests that the cluster answers. It does not test the certificate's name, which is the operator's choice.
  const sslMode = isPublic ? "prefer" : "disable";
  const db = new SQL({
    url: `${protocol}://${username}:${password}@${address}/${database}?sslmode=${sslMode}`,
    adapter: protocol,
    max: 1,
    connectionTimeout: LOGIN_TIMEOUT_SECONDS,
    // Postgres 18 and later send a client this setting, which a customer may make of any length.
    ...(protocol === "postgres" ? { connection: { search_path: "pg_catalog" } } : {}),
  });
  try {
    await db`select 1`;
  } catch (error) {
    throw new PublicError(
      `A login at ${address} did not work: ${presentable(messageOf(error), MAX_REASON_CHARACTERS)}.`,
      error,
    );
  } finally {
    await db.close({ timeout: 0 });
  }
}

// Logs into a cluster as its customer does, which alone makes it available.
import { SQL } from "bun";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { presentable } from "../../lib/presentable.ts";
import type { Protocol } from "./types.ts";

/** A connection on the machine itself takes milliseconds; a login that takes longer is tried again. */
const LOGIN_TIMEOUT_SECONDS = 5;

/** Of an engine's own words, which may quote what a customer chose. */
const MAX_REASON_CHARACTERS = 300;

/** What every engine has and everybody may enter. Without a name, Bun would ask for one that is closed to customers. */
const NOBODYS_DATABASES = { postgres: "postgres", mysql: "information_schema" };

/** How a customer reaches a cluster. */
export interface DatabaseClusterLogin {
  protocol: Protocol;
  hostname: string;
  port: number;
  username: string;
  password: string;
  /** Whether other machines reach it as well, so that it may want TLS. */
  isPublic: boolean;
  /** A database that is there; undefined when the cluster has none. */
  database: string | undefined;
}

/**
 * A customer may keep itself out of its own database, or fill it with sessions, in a cluster that serves all the same.
 * @throws PublicError when the cluster cannot be reached at its address or does not take the credentials.
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
  // This asks whether the cluster answers; whether the name fits the certificate is the operator's choice of name.
  const sslMode = isPublic ? "prefer" : "disable";
  const db = new SQL({
    url: `${protocol}://${username}:${password}@${address}/${database}?sslmode=${sslMode}`,
    adapter: protocol,
    max: 1,
    connectionTimeout: LOGIN_TIMEOUT_SECONDS,
    // From version 18 on, Postgres tells a client this setting, which a customer may make as long as it likes.
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

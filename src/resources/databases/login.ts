// Logs into a cluster as its customer does, which alone makes it available.
import { SQL } from "bun";
import { messageOf, PublicError } from "../../lib/errors.ts";

/** A connection on the machine itself takes milliseconds; a login that takes longer is tried again. */
const LOGIN_TIMEOUT_SECONDS = 5;

/** How a customer reaches a cluster. */
export interface DatabaseLogin {
  protocol: "postgres" | "mysql";
  hostname: string;
  port: number;
  username: string;
  password: string;
  /** A database that is there; undefined when the cluster has none. */
  database: string | undefined;
}

/** @throws PublicError when the cluster cannot be reached at its address or does not take the credentials. */
export async function ensureLogin({ protocol, database, ...login }: DatabaseLogin): Promise<void> {
  const shared = { ...login, max: 1, connectionTimeout: LOGIN_TIMEOUT_SECONDS };
  const db =
    protocol === "postgres"
      ? // Every Postgres has this one, which belongs to nobody.
        new SQL({ adapter: "postgres", ...shared, database: database ?? "postgres" })
      : new SQL({ adapter: "mysql", ...shared, ...(database === undefined ? {} : { database }) });
  try {
    await db`select 1`;
  } catch (error) {
    const address = `${login.hostname}:${login.port}`;
    throw new PublicError(`A login at ${address} did not work: ${messageOf(error)}.`, error);
  } finally {
    await db.close({ timeout: 0 });
  }
}

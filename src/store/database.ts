// The connection pool to the store, the Postgres that keeps the state of the control plane.
import { SQL, type TransactionSQL } from "bun";

/** The pool; one statement on it is one transaction. */
export type Database = SQL;

/** Statements that are committed together; made by `database.begin`. */
export type Transaction = TransactionSQL;

/** A pool or a transaction, for functions that work in both. */
export type Queryable = SQL | TransactionSQL;

/** How the store is reached. */
export type DatabaseAddress =
  | { url: string }
  | { socketPath: string; username: string; password: string; database: string };

/** Connections of one process; Postgres allows 100 by default, and several processes share them. */
const MAX_CONNECTIONS = 10;

/**
 * Transactions wait for nothing but the store. A control plane that is stopped in the middle of one, as by a pause of its
 * machine, loses it after this time, and keeps no other from its rows.
 */
const IDLE_TRANSACTION_MS = 10_000;

/**
 * Opens a pool; connections are made when they are first needed.
 * @param onClose called when a connection that was open is lost.
 */
export function openDatabase(
  address: DatabaseAddress,
  options: { maxConnections?: number; onClose?: () => void } = {},
): Database {
  const shared = {
    adapter: "postgres" as const,
    max: options.maxConnections ?? MAX_CONNECTIONS,
    connectionTimeout: 10,
    connection: { idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS },
    onclose: () => options.onClose?.(),
  };
  if ("url" in address) return new SQL(address.url, shared);
  const { socketPath, username, password, database } = address;
  return new SQL({ ...shared, path: socketPath, username, password, database });
}

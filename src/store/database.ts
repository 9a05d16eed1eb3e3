// The connection pool to the store, the Postgres that keeps the state of the control plane.
import { SQL, type TransactionSQL } from "bun";
import { isDeadlock } from "./violations.ts";

/** The pool; one statement on it is one transaction. */
export type Database = SQL;

/** Statements that are committed together; made by `database.begin`. */
export type Transaction = TransactionSQL;

/** A pool or a transaction, for functions that work in both. */
export type Queryable = SQL | TransactionSQL;

/** A part of a statement. */
export type SqlFragment = SQL.Query<unknown>;

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

/** How often a transaction is run that Postgres ends for a deadlock each time. */
const MAX_RUNS = 5;

/** How a pool is opened. */
export interface DatabaseOptions {
  maxConnections?: number;
  /** Called when a connection that was open is lost. */
  onClose?: () => void;
  /** Called when a transaction is run again after a deadlock. */
  onDeadlock?: (error: unknown) => void;
}

/**
 * Opens a pool; connections are made when they are first needed. A transaction that Postgres ends for a deadlock is run
 * again, so the callback of `begin` has no effects but those of its statements.
 *
 * All transactions lock in one order, so that there are no deadlocks; ARCHITECTURE.md has that order.
 */
export function openDatabase(address: DatabaseAddress, options: DatabaseOptions = {}): Database {
  const db = openPool(address, options);
  const begin = repeated(db.begin.bind(db), options.onDeadlock);
  return Object.assign(db, { begin, transaction: begin });
}

/** Has a transaction run again after a deadlock: nothing of the former run is left. */
function repeated(begin: SQL["begin"], onDeadlock: DatabaseOptions["onDeadlock"]): SQL["begin"] {
  const run = begin as (...given: unknown[]) => Promise<never>;
  return async (...given: unknown[]) => {
    for (let runs = 1; ; runs += 1) {
      try {
        return await run(...given);
      } catch (error) {
        if (!isDeadlock(error) || runs === MAX_RUNS) throw error;
        onDeadlock?.(error);
      }
    }
  };
}

function openPool(address: DatabaseAddress, options: DatabaseOptions): SQL {
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

// A session with an engine for a single statement, as the implementations for both protocols offer it.
import type { DatabaseClusterLogin } from "../login.ts";
import type { Result } from "./result.ts";

/** The login of a cluster's customer, and the database of the statement. */
export type StatementLogin = DatabaseClusterLogin & { database: string };

/** A statement and its bounds. */
export interface Statement {
  text: string;
  isReadOnly: boolean;
  /** Whether the text has several statements, whose results are dropped; left out for a single statement. */
  isScript?: boolean;
  maxRows: number;
  /** The engine ends the statement by itself after this time, should this process be gone by then. */
  timeoutMs: number;
}

export interface EngineSession {
  /** Logs in. @throws NoSession, StatementRefused, ConnectionLost */
  open(): Promise<void>;
  /** Runs a statement. @throws StatementRefused, StatementEnded, BudgetSpent, ConnectionLost */
  run(statement: Statement, result: Result): Promise<void>;
  /** Has the engine cancel the statement under way, over a connection of its own. */
  cancel(): Promise<void>;
  /** Closes all connections, also that of a cancel that gets no answer. */
  close(): void;
}

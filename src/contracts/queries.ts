// What runs in a database instance, and what its statements have taken: the host's answers to its driver.
import * as z from "zod/mini";

/** The most queries of an answer, the most statements, and the longest text of each, in characters. */
export const MAX_QUERIES = 200;
export const MAX_STATEMENTS = 100;
export const MAX_TEXT_CHARACTERS = 4_000;

/** Longer than any name that an engine takes. */
export const MAX_NAME_CHARACTERS = 256;

/** What a session does: a statement, nothing, or nothing in the middle of a transaction, which may have failed. */
export const queryStates = ["active", "idle", "idle_in_transaction", "idle_in_failed_transaction"] as const;

export type QueryState = (typeof queryStates)[number];

/** The order of statements: by all their time, by the mean or the longest time of a call, by calls, or by rows. */
export const statementOrders = ["total_time", "mean_time", "max_time", "calls", "rows"] as const;

export type StatementOrder = (typeof statementOrders)[number];

/** What a cancel ends: the statement alone, or the session with it. */
export const cancelScopes = ["statement", "session"] as const;

export type CancelScope = (typeof cancelScopes)[number];

const name = z.string().check(z.maxLength(MAX_NAME_CHARACTERS));
const amount = z.number().check(z.nonnegative());
const text = z.nullable(z.string().check(z.maxLength(MAX_TEXT_CHARACTERS)));

const querySchema = z.strictObject({
  /** Names the session and its latest statement, and never another session or statement. */
  id: z.string().check(z.maxLength(80)),
  user: name,
  database: z.nullable(name),
  application: z.nullable(name),
  /** The engine's word, or the gateway's for its clients; null where neither knows it. */
  address: z.nullable(name),
  state: z.enum(queryStates),
  /** What the session waits for, in the engine's words. */
  wait: z.nullable(name),
  /** How long it has been in this state. */
  durationMs: amount,
  /** How old its transaction is; null outside of a transaction. */
  transactionMs: z.nullable(amount),
  /** The latest statement; null where the engine does not say it. */
  text,
  /** Whether only the beginning of the text is here. */
  isCut: z.boolean(),
});

/** A session of a customer with its latest statement. */
export type RunningQuery = z.infer<typeof querySchema>;

export const queriesAnswerSchema = z.strictObject({
  /** Whether the instance sleeps, so that nothing runs in it. */
  isAsleep: z.boolean(),
  /** How many there are; more than are listed when there are very many. */
  total: z.int().check(z.nonnegative()),
  /** Busy sessions first, the longest first. */
  queries: z.array(querySchema).check(z.maxLength(MAX_QUERIES)),
});

/** The sessions of an instance. */
export type QueriesAnswer = z.infer<typeof queriesAnswerSchema>;

const statementSchema = z.strictObject({
  id: z.string().check(z.maxLength(80)),
  /** With its constants left out by the engine; null where the texts of the instance are too large to be read. */
  text,
  isCut: z.boolean(),
  /** Null for a user or a database that was dropped since. */
  user: z.nullable(name),
  database: z.nullable(name),
  calls: amount,
  totalMs: amount,
  meanMs: amount,
  maxMs: amount,
  rows: amount,
  blocksHit: amount,
  blocksRead: amount,
});

/** What all runs of a statement have taken together. */
export type StatementFigures = z.infer<typeof statementSchema>;

export const statementsAnswerSchema = z.strictObject({
  isAsleep: z.boolean(),
  /** How many statements the engine has figures of. */
  total: z.int().check(z.nonnegative()),
  /** Since when it counts. */
  since: z.nullable(z.iso.datetime()),
  statements: z.array(statementSchema).check(z.maxLength(MAX_STATEMENTS)),
});

/** The statements of an instance, in the order that was asked for. */
export type StatementsAnswer = z.infer<typeof statementsAnswerSchema>;

export const cancelAnswerSchema = z.strictObject({
  /** Whether the engine was asked to cancel; or the query has ended before; or only its transaction is open. */
  outcome: z.enum(["cancelled", "ended", "idle"]),
});

/** What became of a cancel. */
export type CancelAnswer = z.infer<typeof cancelAnswerSchema>;

/** Selects queries. */
export interface QueriesRequest {
  /** Whether sessions that do nothing are listed as well. */
  withIdle: boolean;
}

export const cancelScopeSchema = z.enum(cancelScopes);

export const statementsRequestSchema = z.strictObject({
  order: z.enum(statementOrders),
  limit: z.int().check(z.minimum(1), z.maximum(MAX_STATEMENTS)),
});

/** Selects statements. */
export type StatementsRequest = z.infer<typeof statementsRequestSchema>;

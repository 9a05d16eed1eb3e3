// The bounds of a statement and its answer. The process that answers serves all organizations, so each bound holds for
// every engine and every statement.

export const MAX_STATEMENT_CHARACTERS = 100_000;

export const DEFAULT_ROWS = 500;
export const MAX_ROWS = 5_000;

export const DEFAULT_TIMEOUT_SECONDS = 30;
/** Below the minute after which the API and its clients give up. */
export const MAX_TIMEOUT_SECONDS = 50;

/** A longer cell is cut. */
export const CELL_BYTES = 65_536;
/** The cells of an answer; the rows after it are left out. A cell counts for its bytes and its place. */
export const ANSWER_BYTES = 2 * 1024 ** 2;
export const CELL_PLACE_BYTES = 8;
/** The engine's bytes that are read for an answer, most of which may be the rest of cells that are cut. */
export const READ_BYTES = 16 * 1024 ** 2;
/** A message of the engine that is no row: the names of 4,096 columns take less. */
export const MESSAGE_BYTES = 1024 ** 2;

export const MAX_NOTICES = 20;
/** A message of the engine about a statement, which may quote the statement. */
export const MAX_MESSAGE_CHARACTERS = 2_000;

/** Statements at the same time. */
export const QUERIES_PER_CLUSTER = 4;
/** Of the organizations that share quotas. */
export const QUERIES_PER_FAMILY = 8;

// Renders the queries and the statements of a database cluster.
import {
  statementOrders,
  type QueriesAnswer,
  type StatementOrder,
  type StatementsAnswer,
} from "../../../contracts/queries.ts";
import type { DatabaseQueries, DatabaseStatements } from "./schema.ts";

export function renderQueries({ isAsleep, total, queries }: QueriesAnswer): DatabaseQueries {
  const data = queries.map(({ id, address, durationMs, transactionMs, isCut, ...same }) => ({
    id,
    type: "databaseQueries" as const,
    attributes: {
      ...same,
      client_address: address,
      duration_ms: rounded(durationMs),
      transaction_ms: transactionMs === null ? null : rounded(transactionMs),
      is_text_cut: isCut,
    },
  }));
  return { data, meta: { is_asleep: isAsleep, total } };
}

export function renderStatements(
  { isAsleep, total, since, statements }: StatementsAnswer,
  sort: StatementOrder,
): DatabaseStatements {
  const data = statements.map(({ id, isCut, totalMs, meanMs, maxMs, blocksHit, blocksRead, ...same }) => ({
    id,
    type: "databaseStatements" as const,
    attributes: {
      ...same,
      is_text_cut: isCut,
      total_time_ms: rounded(totalMs),
      mean_time_ms: rounded(meanMs),
      max_time_ms: rounded(maxMs),
      cache_hit_ratio: blocksHit + blocksRead === 0 ? null : blocksHit / (blocksHit + blocksRead),
    },
  }));
  return { data, meta: { is_asleep: isAsleep, total, since, sort, available_sorts: [...statementOrders] } };
}

/** Engines count microseconds; further digits come from the arithmetic. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

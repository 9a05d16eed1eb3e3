// What the address of the page of queries holds.
import { type RawSearch, textIn } from "../../../../console/parts/page.tsx";
import type { StatementOrder } from "../../../../sdk/index.ts";

/** The orders of the table of statements, with the head of the column of each. */
export const ORDERS: Record<StatementOrder, string> = {
  calls: "Calls",
  total_time: "Total",
  mean_time: "Mean",
  max_time: "Longest",
  rows: "Rows",
};

export const ORDER_NAMES = Object.keys(ORDERS) as StatementOrder[];

export interface QueriesSearch {
  /** The total time when left out. */
  sort: StatementOrder | undefined;
  /** Without idle sessions when left out. */
  idle: "true" | undefined;
}

export function parseQueriesSearch(raw: RawSearch): QueriesSearch {
  return {
    sort: ORDER_NAMES.find((name) => name === textIn(raw, "sort")),
    idle: raw.idle === true || textIn(raw, "idle") === "true" ? "true" : undefined,
  };
}

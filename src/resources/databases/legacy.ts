// The former paths of database clusters, which the contract deprecates: the same operations as below `/databases`.
import type { Operation } from "../../api/operation/operation.ts";

/** The time since when the former paths are deprecated, and the time from when they may be removed. */
const DEPRECATED_SINCE = new Date("2026-02-01T00:00:00Z");
const SUNSET = new Date("2028-02-01T00:00:00Z");

/** The operation under its former path, with its former operation id. */
export function legacy(operation: Operation): Operation {
  const { method, path, summary, operationId } = operation;
  return {
    ...operation,
    path: path.replace("/databases/clusters", "/databases"),
    operationId: operationId.replace("DatabaseCluster", "Database"),
    tag: "Databases (Legacy)",
    summary: `${summary}, under the former path`,
    description: `Use \`${method} ${path.replace(/:(\w+)/g, "{$1}")}\` instead, which does the same.`,
    deprecated: { since: DEPRECATED_SINCE, sunset: SUNSET, successor: path },
  };
}

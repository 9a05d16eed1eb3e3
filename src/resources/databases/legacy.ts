// The former paths of database clusters, which the contract deprecates: the same operations below `/databases`.
import type { Operation } from "../../api/operation/operation.ts";

/** Since when the former paths should not be used, and when they may be gone. */
const DEPRECATED_SINCE = new Date("2026-02-01T00:00:00Z");
const SUNSET = new Date("2028-02-01T00:00:00Z");

/** The operation under its former path, with the operation id that it had there. */
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

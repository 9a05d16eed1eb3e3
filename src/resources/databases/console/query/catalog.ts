// The names of tables and columns in a database, for completion.
import type { SQLNamespace } from "@codemirror/lang-sql";
import { useQuery } from "@tanstack/react-query";
import { client } from "../../../../console/parts/client.ts";
import type { Protocol } from "./protocol.ts";

const MAX_COLUMNS = 5_000;

/** Of the schemas of Postgres but its own, and of the one database of MySQL. */
const STATEMENTS = {
  postgres: `select table_schema, table_name, column_name from information_schema.columns
where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2, ordinal_position`,
  mysql: `select table_schema, table_name, column_name from information_schema.columns
where table_schema = database() order by 1, 2, ordinal_position`,
};

/** @param isWanted false while reading would wake the cluster for nothing. */
export function useCatalog(
  clusterId: string,
  databaseId: string,
  protocol: Protocol,
  isWanted: boolean,
): SQLNamespace | undefined {
  const catalog = useQuery({
    queryKey: ["databases", "catalog", clusterId, databaseId],
    queryFn: async ({ signal }) => {
      const query = { statement: STATEMENTS[protocol], max_rows: MAX_COLUMNS };
      const { data } = await client.databases.query(clusterId, databaseId, query, { signal });
      return namespaceOf(data.rows, protocol);
    },
    enabled: isWanted,
    staleTime: Infinity,
    retry: false,
  });
  return catalog.data;
}

/** @param rows schema, table and column of each column. */
function namespaceOf(rows: (string | null)[][], protocol: Protocol): SQLNamespace {
  const schemas: Record<string, Record<string, string[]>> = {};
  for (const [schema, table, column] of rows) {
    if (!schema || !table || !column) continue;
    const tables = (schemas[schema] ??= {});
    (tables[table] ??= []).push(column);
  }
  return protocol === "mysql" ? (Object.values(schemas)[0] ?? {}) : schemas;
}

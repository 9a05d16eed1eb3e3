// Ways to connect to a database cluster, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { loginOf } from "./login.ts";
import { mysqlSnippets } from "./snippets-mysql.ts";
import { postgresSnippets } from "./snippets-postgres.ts";

/** The address with the credentials, for clients that take one text. */
export function urlOf(cluster: DatabaseClusterResource, database: string): string {
  return loginOf(cluster, database).url;
}

export function snippetsOf(cluster: DatabaseClusterResource, database: string): Snippet[] {
  const login = loginOf(cluster, database);
  const isMysql = cluster.attributes.connection.protocol === "mysql";
  return [{ label: "URL", text: login.url }, ...(isMysql ? mysqlSnippets(login) : postgresSnippets(login))];
}

// The variables by which an application finds a database.
import type { KindContext } from "../kind.ts";
import { loginOf } from "./login.ts";
import { loadDatabaseCluster } from "./store.ts";

const [CONNECTIONS, SCHEMES] = [
  { postgres: "pgsql", mysql: "mysql" },
  { postgres: "postgresql", mysql: "mysql" },
] as const;

/**
 * The address and the credentials, by the names that frameworks read; none for a database that is gone.
 * @param id that of the database in its cluster.
 */
export async function databaseVariables(context: KindContext, id: string): Promise<Record<string, string>> {
  const [found] = await context.db<{ clusterId: string; name: string }[]>`
    select database_id as "clusterId", name from database_schemas where id = ${id}`;
  const cluster = found === undefined ? null : await loadDatabaseCluster(context.db, found.clusterId);
  if (found === undefined || cluster === null) return {};
  const { protocol, hostname, port, username, password, isPublic } = loginOf(cluster, context);
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const isTls = isPublic && context.hosts.of(cluster.hostId).isTls;
  const query = isTls && protocol === "postgres" ? "?sslmode=require" : "";
  const name = encodeURIComponent(found.name);
  return {
    DATABASE_URL: `${SCHEMES[protocol]}://${username}:${encodeURIComponent(password)}@${host}:${port}/${name}${query}`,
    DB_CONNECTION: CONNECTIONS[protocol],
    DB_HOST: hostname,
    DB_PORT: String(port),
    DB_DATABASE: found.name,
    DB_USERNAME: username,
    DB_PASSWORD: password,
  };
}

// What a snippet needs to know of a database cluster.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";

export interface DatabaseLogin {
  driver: string;
  hostname: string;
  port: number;
  username: string;
  password: string;
  database: string;
  /** Whether the snippet asks for TLS, which other machines must use. */
  isTls: boolean;
  /** The address with the credentials, without parameters. */
  address: string;
  /** The address with the credentials and what it says about TLS. */
  url: string;
}

export function loginOf(
  { attributes: { connection, config } }: DatabaseClusterResource,
  database: string,
): DatabaseLogin {
  const { protocol, driver, username = "", password = "", hostname, port } = connection;
  const isTls = "is_public" in config && config.is_public;
  const credentials = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
  const address = `${protocol}://${credentials}@${hostname}:${port}/${database}`;
  // Clients of MySQL have no parameter for TLS in common.
  const url = isTls && protocol !== "mysql" ? `${address}?sslmode=require` : address;
  return { driver, hostname, port, username, password, database, isTls, address, url };
}

/** The settings of Laravel, for its `.env`. @param more the settings of the engine. */
export function laravelSnippet(login: DatabaseLogin, more: string[]): Snippet {
  const { driver, hostname, port, username, password, database } = login;
  const lines = [
    `DB_CONNECTION=${driver}`,
    `DB_HOST=${hostname}`,
    `DB_PORT=${port}`,
    `DB_DATABASE=${database}`,
    `DB_USERNAME=${username}`,
    `DB_PASSWORD=${password}`,
  ];
  return { label: "Laravel", text: [...lines, ...more].join("\n") };
}

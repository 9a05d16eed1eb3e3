// How the connection of a resource looks to people, for all kinds.

/** The connection members of a resource in the API. */
export interface Connection {
  hostname: string;
  port: number;
  protocol: string;
  /** An empty array when the token may not see the credentials. */
  "": Credentials | unknown[];
}

export interface Credentials {
  username: string;
  password: string;
}

/** Host and port as one word. */
export function addressOf({ hostname, port }: Connection): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** @returns undefined when the token may not see the credentials. */
export function credentialsOf({ "": credentials }: Connection): Credentials | undefined {
  return Array.isArray(credentials) ? undefined : credentials;
}

/** The URL for clients, without a path; undefined when the token may not see the credentials. */
export function connectionUrl(connection: Connection): string | undefined {
  const credentials = credentialsOf(connection);
  if (credentials === undefined) return undefined;
  const user = `${encodeURIComponent(credentials.username)}:${encodeURIComponent(credentials.password)}`;
  return `${connection.protocol}://${user}@${addressOf(connection)}`;
}

/** Until when a former password is valid, as a row; no row without it. */
export function formerPasswordRows(former: { expires_at: string } | null): string[][] {
  return former === null ? [] : [["Former password", `valid until ${former.expires_at}`]];
}

/**
 * Name and value of each setting that a client needs.
 * @param group the kind in abilities, such as `caches`.
 * @param path the end of the URL.
 */
export function connectionRows(connection: Connection, group: string, path = ""): string[][] {
  const rows = [
    ["Host", connection.hostname],
    ["Port", String(connection.port)],
  ];
  const credentials = credentialsOf(connection);
  const url = connectionUrl(connection);
  if (credentials === undefined || url === undefined) {
    return [...rows, ["Password", `hidden, this token may not see it (ability ${group}:credentials)`]];
  }
  const { username, password } = credentials;
  return [...rows, ["Username", username], ["Password", password], ["URL", url + path]];
}

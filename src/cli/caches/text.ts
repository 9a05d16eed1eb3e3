// How caches look to people.
import type { CacheResource } from "../../sdk/index.ts";
import { table } from "../table.ts";

/** Name and value of everything worth knowing about a cache, one a line. */
export function detailsText(cache: CacheResource): string {
  const { attributes, meta } = cache;
  const rows = [
    ["Name", attributes.name],
    ["Id", cache.id],
    ["Status", meta.overdue ? `${attributes.status} (takes longer than it should)` : attributes.status],
    ...(meta.last_error === null ? [] : [["Last error", meta.last_error]]),
    ["Type", attributes.type],
    ["Size", attributes.size],
    ["Region", attributes.region],
    ["Engine", meta.engine === null ? "not chosen yet" : `${meta.engine.name} ${meta.engine.version}`],
    ["Eviction", attributes.eviction_policy],
    ["Public", attributes.is_public ? "yes" : "no"],
    ["Hibernates", attributes.uses_hibernation ? `after ${attributes.hibernation_timeout} min` : "no"],
    ["Created", attributes.created_at],
    ...connectionRows(cache),
  ];
  return table(rows);
}

/** One line that people can copy to try the cache; empty when the credentials are hidden. */
export function tryText(cache: CacheResource): string {
  const url = connectionUrl(cache);
  return url === undefined
    ? ""
    : `\nTry it: redis-cli -u ${url} ping  (or valkey-cli, with the same options)\n`;
}

/** Host and port as one word. */
export function addressOf({ attributes }: CacheResource): string {
  const { hostname, port } = attributes.connection;
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function connectionRows(cache: CacheResource): string[][] {
  const { hostname, port } = cache.attributes.connection;
  const rows = [
    ["Host", hostname],
    ["Port", String(port)],
  ];
  const credentials = credentialsOf(cache);
  const url = connectionUrl(cache);
  if (credentials === undefined || url === undefined) {
    return [...rows, ["Password", "hidden, this token may not see it (ability caches:credentials)"]];
  }
  return [...rows, ["Username", credentials.username], ["Password", credentials.password], ["URL", url]];
}

function connectionUrl(cache: CacheResource): string | undefined {
  const credentials = credentialsOf(cache);
  if (credentials === undefined) return undefined;
  const { username, password } = credentials;
  const user = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
  return `${cache.attributes.connection.protocol}://${user}@${addressOf(cache)}`;
}

/** @returns undefined when the token may not see them. */
function credentialsOf({ attributes }: CacheResource): { username: string; password: string } | undefined {
  const { "": credentials } = attributes.connection;
  return Array.isArray(credentials) ? undefined : credentials;
}

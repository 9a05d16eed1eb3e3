// How caches look to people.
import type { CacheDocument } from "../../sdk/index.ts";
import { connectionRows, connectionUrl, formerPasswordRows } from "../shared/connection.ts";
import { headRows } from "../shared/details.ts";
import { sleepRows } from "../shared/sleep.ts";
import { table } from "../table.ts";

/** Name and value of each property of a cache, one a line. */
export function detailsText({ data: cache }: CacheDocument): string {
  const { attributes } = cache;
  return table([
    ...headRows(cache),
    ["Size", attributes.size],
    ["Eviction", attributes.eviction_policy],
    ["Public", attributes.is_public ? "yes" : "no"],
    ["Hibernates", attributes.uses_hibernation ? `after ${attributes.hibernation_timeout} min` : "no"],
    ...sleepRows(cache.meta.sleep),
    ...connectionRows(attributes.connection, "caches"),
    ...formerPasswordRows(cache.meta.former_credentials),
  ]);
}

/** A line that people can copy to try the cache; empty when the credentials are hidden. */
export function tryText({ data: cache }: CacheDocument): string {
  const url = connectionUrl(cache.attributes.connection);
  return url === undefined
    ? ""
    : `\nTry it: redis-cli -u ${url} ping  (or valkey-cli, with the same options)\n`;
}

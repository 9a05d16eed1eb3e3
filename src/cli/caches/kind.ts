// The properties of caches for the commands that all kinds share.
import type { CacheDocument } from "../../sdk/index.ts";
import { addressOf } from "../shared/connection.ts";
import type { ShownKind } from "../shared/kind.ts";
import { detailsText, tryText } from "./text.ts";

export const cacheKind: ShownKind<CacheDocument> = {
  group: "caches",
  noun: "cache",
  plural: "caches",
  idPattern: /^cache-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  showCommand: (id) => `pilvi caches show ${id}`,
  waitAgain: (id) => `pilvi caches show ${id} --wait`,
  requests: (client) => client.caches,
  columns: ["NAME", "STATUS", "SLEEP", "TYPE", "SIZE", "REGION", "ADDRESS", "ID"],
  cells({ id, attributes: { name, status, type, size, region, connection }, meta: { sleep } }) {
    return [name, status, sleep.state, type, size, region, addressOf(connection), id];
  },
  details: detailsText,
  firstTry: tryText,
};

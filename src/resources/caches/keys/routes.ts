// The operations of the key browser: list keys, read a key, delete a key.
import type { z } from "zod";
import { recordAudit } from "../../../api/auth/audit.ts";
import { notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { KeyBrowser } from "./browse.ts";
import { only, scanKeys } from "./scan.ts";
import { keyDeletionQuery, keyDocument, keyParams, keyQuery, keysDocument, keysQuery } from "./schema.ts";
import { keyOf } from "./text.ts";
import { readValue } from "./value.ts";

interface Shared {
  tag: string;
  params: z.ZodObject<{ id: z.ZodString }>;
}

/** All operations about keys. @param shared the tag, and the schema of the path's parameters. */
export function keyOperations(context: KindContext, shared: Shared): Operation[] {
  const browser = new KeyBrowser(context);
  return [list(browser, shared), show(browser, shared), remove(context, browser, shared)];
}

function list(browser: KeyBrowser, { tag, params }: Shared): Operation {
  return operation({
    method: "GET",
    path: "/caches/:id/keys",
    operationId: "listCacheKeys",
    tag,
    summary: "List the keys of a cache",
    description:
      "Keys with type, expiry and size, in the order of SCAN, which holds up no other client: a key may come twice, and a page may be empty although there is more. Pilvi logs in as the cache's own user.",
    ability: "caches:credentials",
    canConflict: true,
    params,
    query: keysQuery,
    success: { status: 200, description: "A page of keys.", schema: keysDocument },
    async handle({ principal, params: { id }, query, signal }) {
      const isWaking = query.wake !== undefined;
      const document = await browser.open(principal, { id, isWaking, signal }, (cache) =>
        scanKeys(cache, query),
      );
      return { document };
    },
  });
}

function show(browser: KeyBrowser, { tag, params }: Shared): Operation {
  return operation({
    method: "GET",
    path: "/caches/:id/keys/:key",
    operationId: "getCacheKey",
    tag,
    summary: "Read a key of a cache",
    description:
      "A part of its value, with a cursor for the next part: 64 KiB of a string, or some elements of all else, each cut after 4 KiB.",
    ability: "caches:credentials",
    canConflict: true,
    params: params.extend(keyParams.shape),
    query: keyQuery,
    success: { status: 200, description: "The key.", schema: keyDocument },
    async handle({ principal, params: { id, key }, query, signal }) {
      const isWaking = query.wake !== undefined;
      const name = keyOf(key, query.encoding);
      const document = await browser.open(principal, { id, isWaking, signal }, (cache) =>
        readValue(cache, name, query),
      );
      if (document === undefined) throw notFound("key");
      return { document };
    },
  });
}

function remove({ db }: KindContext, browser: KeyBrowser, { tag, params }: Shared): Operation {
  return operation({
    method: "DELETE",
    path: "/caches/:id/keys/:key",
    operationId: "deleteCacheKey",
    tag,
    summary: "Delete a key of a cache",
    description: "Takes the key away at once; the engine frees its memory in the background (UNLINK).",
    ability: "caches:write",
    canConflict: true,
    params: params.extend(keyParams.shape),
    query: keyDeletionQuery,
    success: { status: 204, description: "The key is gone." },
    async handle({ principal, params: { id, key }, query, signal, requestId }) {
      const isWaking = query.wake !== undefined;
      const name = keyOf(key, query.encoding);
      const deleted = await browser.open(principal, { id, isWaking, signal }, (cache) =>
        only(cache, ["UNLINK", name]),
      );
      if (deleted === 0) throw notFound("key");
      // The name of a key may be a secret, such as that of a session.
      const entry = { principal, requestId, action: "delete-key", kind: "caches", id, details: {} };
      await db.begin((tx) => recordAudit(tx, entry));
      return {};
    },
  });
}

// The caches that answers about environments include.
import type { Principal } from "../../api/auth/auth.ts";
import type { KindContext } from "../kind.ts";
import { renderCache } from "./render.ts";
import type { CacheResource } from "./schema.ts";
import { findCache } from "./store.ts";

/** The organization's caches with these ids. */
export async function attachedCaches(
  context: KindContext,
  principal: Principal,
  ids: readonly string[],
): Promise<CacheResource[]> {
  const found = await Promise.all(ids.map((id) => findCache(context.db, principal.organizationId, id)));
  return found.flatMap((cache) => (cache === undefined ? [] : [renderCache(cache, context, principal)]));
}

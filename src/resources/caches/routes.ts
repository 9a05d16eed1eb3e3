// The operations of caches.
import { z } from "zod";
import { filterQuery } from "../../api/filters.ts";
import { JSON_API, listDocument, singleDocument } from "../../api/jsonapi.ts";
import { operation, type Operation } from "../../api/operation.ts";
import { pageDocument, pageOf, pageQuery } from "../../api/pagination.ts";
import { waitQuery } from "../../api/wait.ts";
import type { KindContext } from "../kind.ts";
import { createdHeaders } from "../shared/create.ts";
import { deleteInstance } from "../shared/delete.ts";
import { readOne } from "../shared/read.ts";
import { regions } from "../shared/regions.ts";
import { rotateCredentials } from "../shared/rotate.ts";
import { suspendInstance } from "../shared/suspend.ts";
import { CACHES, changeCache, checkChange } from "./change.ts";
import { createCache } from "./create.ts";
import { engineCheck } from "./engines.ts";
import { renderCache } from "./render.ts";
import {
  cacheChange,
  cacheResource,
  cacheStatuses,
  cacheTypeList,
  checkNewCache,
  newCache,
} from "./schema.ts";
import { cacheTypeLabels, cacheTypes, labelOf, sizesByType } from "./sizes.ts";
import { findCache, listCaches, type CacheRow } from "./store.ts";

const tag = "Caches";
const includes = ["environments"];

const params = z.object({
  id: z
    .string()
    .regex(/^cache-[0-9a-f-]{36}$/)
    .meta({ description: "The cache's id.", example: "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});

const single = singleDocument(cacheResource);

/** All operations of caches. */
export function cacheOperations(context: KindContext): Operation[] {
  return [
    create(context),
    list(context),
    types(),
    show(context),
    change(context),
    suspend(context),
    rotate(context),
    remove(context),
  ];
}

function create(context: KindContext): Operation {
  const engineFault = engineCheck(context.driver);
  return operation({
    method: "POST",
    path: "/caches",
    operationId: "createCache",
    tag,
    summary: "Create a cache",
    description:
      "Answers at once with the status `creating`. The port and the credentials are final; the cache can be used when its status is `available`.",
    ability: "caches:write",
    body: newCache,
    isIdempotent: true,
    async check(valid) {
      const errors = checkNewCache(valid);
      const fault = valid.type && (await engineFault(valid.type));
      return fault === undefined ? errors : { ...errors, type: [fault] };
    },
    success: {
      status: 201,
      description: "The cache, which is being created.",
      schema: single,
      contentType: JSON_API,
      headers: { Location: "The cache's address." },
    },
    async handle(request) {
      const { row, isReplayed } = await createCache(context, request);
      return {
        document: { data: renderCache(row, context, request.principal), included: [] },
        headers: createdHeaders(request, row.id, isReplayed),
      };
    },
  });
}

function list(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/caches",
    operationId: "listCaches",
    tag,
    summary: "List caches",
    description: "The organization's caches in pages, the oldest first.",
    ability: "caches:read",
    query: z.object({
      ...pageQuery,
      ...filterQuery({ type: cacheTypes, region: regions, status: cacheStatuses }),
    }),
    includes,
    success: {
      status: 200,
      description: "A page of caches.",
      schema: listDocument(cacheResource),
      contentType: JSON_API,
    },
    async handle({ principal, query, url, includes: wanted }) {
      const page = pageOf(query);
      const filter = {
        types: query["filter[type]"],
        regions: query["filter[region]"],
        statuses: query["filter[status]"],
      };
      const wish = { organizationId: principal.organizationId, filter, page };
      const { rows, total } = await listCaches(context.db, wish);
      const caches = rows.map((row) => renderCache(row, context, principal));
      return { document: { ...pageDocument(url, page, total, caches), ...includedFor(wanted) } };
    },
  });
}

function show(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/caches/:id",
    operationId: "getCache",
    tag,
    summary: "Get a cache",
    description: "One cache, at once or, with `wait`, when it has reached a status.",
    ability: "caches:read",
    params,
    query: z.object(waitQuery(cacheStatuses)),
    includes,
    success: { status: 200, description: "The cache.", schema: single, contentType: JSON_API },
    async handle(request) {
      const {
        principal,
        params: { id },
        includes: wanted,
      } = request;
      const read = () => findCache(context.db, principal.organizationId, id);
      const row = await readOne(request, id, "cache", read);
      return { document: { data: renderCache(row, context, principal), ...includedFor(wanted) } };
    },
  });
}

function change(context: KindContext): Operation {
  return operation({
    method: "PATCH",
    path: "/caches/:id",
    operationId: "updateCache",
    tag,
    summary: "Change a cache",
    description:
      "Members that are left out stay as they are; type, region and port are for life. The cache is `updating` until the change is in force. Another size or eviction policy starts its engine anew, and another `is_public` that of a cache which does not hibernate. Whether and when it hibernates starts nothing anew, but who listens at its address changes when the engine stops next, which ends its connections.",
    canConflict: true,
    ability: "caches:write",
    params,
    body: cacheChange,
    check: (valid, { principal: { organizationId }, params: { id } }) =>
      checkChange(context, valid, { organizationId, id }),
    success: { status: 200, description: "The changed cache.", schema: single, contentType: JSON_API },
    async handle(request) {
      const row = await changeCache(context, request);
      return { document: { data: renderCache(row, context, request.principal) } };
    },
  });
}

function suspend(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: "/caches/:id/suspend",
    operationId: "suspendCache",
    tag,
    summary: "Put a cache to sleep",
    description:
      "Answers when the cache sleeps; one that does already is fine. The next client that logs in wakes it. One that never hibernates, has clients that wait or listen, or could not be put to sleep in time answers 409.",
    canConflict: true,
    ability: "caches:write",
    params,
    success: { status: 200, description: "The cache, which sleeps.", schema: single, contentType: JSON_API },
    async handle(request) {
      const row = await suspendInstance(context, request, { ...CACHES, reasonAgainst });
      return { document: { data: renderCache(row, context, request.principal) } };
    },
  });
}

function rotate(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: "/caches/:id/rotate-credentials",
    operationId: "rotateCacheCredentials",
    tag,
    summary: "Give a cache a new password",
    description:
      "The user stays. The cache is `updating` until the new password is in force, and from then on the former one is refused. Its engine starts anew for it, which ends its connections; one that sleeps is not woken.",
    ability: "caches:write",
    params,
    isIdempotent: true,
    canConflict: true,
    success: {
      status: 200,
      description: "The cache with its new password.",
      schema: single,
      contentType: JSON_API,
    },
    async handle(request) {
      const { row, isReplayed } = await rotateCredentials(context, request, CACHES);
      return {
        document: { data: renderCache(row, context, request.principal) },
        headers: { ...(isReplayed && { "Idempotent-Replayed": "true" }) },
      };
    },
  });
}

function reasonAgainst({ usesHibernation }: CacheRow): string | undefined {
  return usesHibernation ? undefined : "The cache does not hibernate. Set uses_hibernation to let it sleep.";
}

function remove(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: "/caches/:id",
    operationId: "deleteCache",
    tag,
    summary: "Delete a cache",
    description:
      "Answers at once. The cache is `deleting` until nothing is left of it, and then no longer there.",
    ability: "caches:write",
    params,
    success: { status: 204, description: "The cache is being deleted." },
    async handle(request) {
      await deleteInstance(context, request, CACHES);
      return {};
    },
  });
}

function types(): Operation {
  const data = cacheTypes.map((type) => ({
    type,
    label: cacheTypeLabels[type],
    regions: [...regions],
    sizes: sizesByType[type].map((size) => ({ value: size, label: labelOf(size) })),
    // The wish is kept, but nothing acts on it yet.
    supports_auto_upgrade: false,
  }));
  return operation({
    method: "GET",
    path: "/caches/types",
    operationId: "listCacheTypes",
    tag,
    summary: "List cache types",
    description: "What can be ordered: types with their regions and sizes.",
    ability: "caches:read",
    success: { status: 200, description: "All types.", schema: cacheTypeList },
    handle: async () => ({ document: { data } }),
  });
}

/** No environment uses a cache yet, so there is nothing to include even for those who ask. */
function includedFor(wanted: readonly string[]): { included?: [] } {
  return wanted.length > 0 ? { included: [] } : {};
}

// The operations of caches.
import type { z } from "zod";
import { operation, type Operation } from "../../api/operation/operation.ts";
import { attachedEnvironments } from "../applications/index.ts";
import type { KindContext } from "../kind.ts";
import { deletionQuery } from "../shared/delete-query.ts";
import { deleteInstance } from "../shared/delete.ts";
import { logsOperation } from "../shared/logs/operation.ts";
import { regions } from "../shared/regions.ts";
import { endGrace, rotateCredentials } from "../shared/rotate.ts";
import { credentialRotation } from "../shared/rotation-schema.ts";
import { Routes } from "../shared/routes.ts";
import { suspendInstance } from "../shared/suspend.ts";
import { changeCache, checkChange } from "./change.ts";
import { createCache } from "./create.ts";
import { sourceOf } from "./backups/source.ts";
import { engineCheck } from "./engines.ts";
import { keyOperations } from "./keys/routes.ts";
import { cacheMetricsOperation } from "./metrics/routes.ts";
import { cacheParams } from "./params.ts";
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
import { cacheSearch } from "./search.ts";
import { findCache, listCaches, type CacheRow } from "./store.ts";

const tag = "Caches";

const params = cacheParams;

/** All operations of caches. */
export function cacheOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<CacheRow, z.ZodObject, typeof params>({
    tag,
    kind: "caches",
    idNoun: "Cache",
    noun: "cache",
    shortNoun: "cache",
    phrases: { one: "a cache", many: "caches" },
    collection: { path: "/caches" },
    item: { path: "/caches/:id", params, idOf: ({ id }) => id },
    schema: cacheResource,
    includes: ["environments"],
    statuses: cacheStatuses,
    find: (organizationId, { id }) => findCache(db, organizationId, id),
    render: (row, principal) => renderCache(row, context, principal),
    related: (_wanted, rows, { principal }) => attachedEnvironments(context, principal, rows),
  });
  return [
    create(routes, context),
    routes.list({
      description: "The organization's caches in pages, the oldest first.",
      filters: { type: cacheTypes, region: regions, status: cacheStatuses },
      list: (search) => listCaches(db, search),
    }),
    types(),
    routes.show({
      description: "One cache, at once or, with `wait`, when the cache has reached a status.",
    }),
    routes.change({
      description:
        "Members that are left out stay as they are; type, region and port are for life. The cache is `updating` until the change is in force. Another size or eviction policy starts its engine anew. So does `is_public` when a cache that does not hibernate becomes public. Whether and when it hibernates starts nothing anew, but the listener at its address changes at the next stop of the engine, which ends its connections.",
      body: cacheChange,
      check: (valid, { principal: { organizationId }, params: { id } }) =>
        checkChange(context, valid, { organizationId, id }),
      change: (request) => changeCache(context, request),
    }),
    cacheMetricsOperation(context, { tag, params }),
    ...keyOperations(context, { tag, params }),
    logsOperation(context, {
      kind: "caches",
      path: "/caches/:id/logs",
      operationId: "readCacheLogs",
      tag,
      noun: "cache",
      params,
      find: (organizationId, id) => findCache(db, organizationId, id),
    }),
    suspend(routes, context),
    rotate(routes, context),
    endGraceOf(routes, context),
    remove(routes, context),
  ];
}

type CacheRoutes = Routes<CacheRow, z.ZodObject, typeof params>;

function create(routes: CacheRoutes, context: KindContext): Operation {
  const engineFault = engineCheck(context.hosts);
  return routes.create({
    description:
      "Answers at once with the status `creating`. The port and the credentials are final; the cache can be used when its status is `available`.",
    body: newCache,
    isIncluding: true,
    async check(valid) {
      const errors = checkNewCache(valid);
      const fault = valid.type && (await engineFault(valid.type));
      return fault === undefined ? errors : { ...errors, type: [fault] };
    },
    create: (request) => createCache(context, request),
  });
}

function remove(routes: CacheRoutes, context: KindContext): Operation {
  return routes.delete({
    description:
      "Answers at once. The cache is `deleting` until its data is gone; from then on a read answers 404. Its snapshots stay, unless `purge` is true.",
    query: deletionQuery,
    delete: (request) =>
      deleteInstance(context, request, {
        ...cacheSearch,
        archive: { find: findCache, sourceOf, isPurged: request.query.purge === "true" },
      }),
  });
}

function suspend(routes: CacheRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "suspend",
    summary: "Put a cache to sleep",
    description:
      "Answers when the cache sleeps, at once for a cache that sleeps already. The next client that logs in wakes it. A cache that never hibernates, has clients that wait or listen, or is not asleep in time answers 409; what is late may still fall asleep.",
    successText: "The cache, which sleeps.",
    canConflict: true,
    act: (request) => suspendInstance(context, request, { ...cacheSearch, reasonAgainst }),
  });
}

function rotate(routes: CacheRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "rotate-credentials",
    summary: "Give a cache a new password",
    description:
      "The user stays. The cache is `updating` until the new password is in force. With `grace_seconds` the present password stays valid beside it for that time, and connections stay open; without, it is refused from then on, and connections end. The former password of an earlier rotation is refused in either case. A sleeping cache is not woken.",
    successText: "The cache with its new password.",
    body: credentialRotation,
    isIdempotent: true,
    canConflict: true,
    act: (request) => rotateCredentials(context, request, cacheSearch),
  });
}

function endGraceOf(routes: CacheRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "end-grace",
    summary: "Refuse the former password of a cache",
    description:
      "Ends the grace period of the latest rotation now: the former password is refused when the cache is `available` again. Connections stay open. Changes nothing where no former password is valid.",
    successText: "The cache without a former password.",
    canConflict: true,
    act: (request) => endGrace(context, request, cacheSearch),
  });
}

function reasonAgainst({ usesHibernation }: CacheRow): string | undefined {
  return usesHibernation ? undefined : "The cache does not hibernate. Set uses_hibernation to let it sleep.";
}

function types(): Operation {
  const data = cacheTypes.map((type) => ({
    type,
    label: cacheTypeLabels[type],
    regions: [...regions],
    sizes: sizesByType[type].map((size) => ({ value: size, label: labelOf(size) })),
    // The value is stored; no code uses it yet.
    supports_auto_upgrade: false,
  }));
  return operation({
    method: "GET",
    path: "/caches/types",
    operationId: "listCacheTypes",
    tag,
    summary: "List cache types",
    description: "The types of caches, with their regions and sizes.",
    ability: "caches:read",
    success: { status: 200, description: "All types.", schema: cacheTypeList, isCompressed: true },
    handle: async () => ({ document: { data } }),
  });
}

// Creates a cache: one transaction with the row, its port, the work that makes it true, and the audit.
import { createOnce } from "../../api/idempotency.ts";
import { recordAudit } from "../../api/audit.ts";
import type { OperationRequest } from "../../api/operation.ts";
import { newId } from "../../lib/ids.ts";
import { newPassword } from "../../lib/secrets.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { canListen, takePort } from "./ports.ts";
import { isValkeyType, type NewCache } from "./schema.ts";
import { findCache, insertCache, type CacheRow } from "./store.ts";

/** How soon a wish about a cache should have come true. */
export const DEADLINE_SECONDS = 60;

const USERNAME = "app";

/** Makes the cache that was asked for, or finds the one that the same Idempotency-Key made before. */
export async function createCache(
  context: KindContext,
  request: OperationRequest<NewCache>,
): Promise<{ row: CacheRow; isReplayed: boolean }> {
  const { organizationId } = request.principal;
  const id = newId("cache");
  return await createOnce(context.db, {
    organizationId,
    kind: "caches",
    id,
    request: request.idempotency,
    create: (tx) => insert(tx, context, request, id),
    find: (tx, madeId) => findCache(tx, organizationId, madeId),
  });
}

async function insert(
  tx: Transaction,
  context: KindContext,
  { principal, requestId, body }: OperationRequest<NewCache>,
  id: string,
): Promise<CacheRow> {
  const { hostId, portRange: range, vault } = context;
  const addresses = new Set(["127.0.0.1", context.bind]);
  const isFree = (port: number) => [...addresses].every((address) => canListen(address, port));
  const row = await insertCache(tx, {
    id,
    organizationId: principal.organizationId,
    hostId,
    name: body.name,
    type: body.type,
    region: body.region,
    size: body.size,
    autoUpgradeEnabled: body.auto_upgrade_enabled,
    isPublic: body.is_public,
    evictionPolicy: body.eviction_policy ?? (isValkeyType(body.type) ? "allkeys-lru" : "noeviction"),
    usesHibernation: body.uses_hibernation,
    hibernationTimeout: body.hibernation_timeout,
    port: await takePort(tx, { hostId, resourceId: id, range, isFree }),
    username: USERNAME,
    sealedPassword: vault.seal(newPassword(), id),
  });
  await enqueue(tx, { kind: "caches", id, hostId, deadlineSeconds: DEADLINE_SECONDS });
  await recordAudit(tx, { principal, requestId, action: "create", kind: "caches", id, details: body });
  return row;
}

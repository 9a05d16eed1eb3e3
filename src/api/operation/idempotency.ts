// Creates that a client may repeat without a second resource: the key is stored together with the resource.
import { z } from "zod";
import { sha256Hex } from "../../lib/secrets.ts";
import type { Log } from "../../lib/log.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { ApiError, invalid } from "../jsonapi/errors.ts";

/** The request header, which is also the field name of its faults. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** A client's key and the hash of its request. */
export interface IdempotentRequest {
  key: string;
  requestHash: string;
}

/** The parts of a request that decide whether it was sent before. */
export interface RepeatableRequest {
  principal: { organizationId: string };
  idempotency: IdempotentRequest | undefined;
}

/** The form of a key. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[ -~]*$/, "may have printable ASCII characters only")
  .meta({
    description:
      "Makes the request safe to repeat: for 24 hours the same key with the same body answers with the same resource.",
    example: "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
  });

/**
 * Distinguishes two requests with the same key.
 * @param body as validated: unknown members are gone, and its members stand in the order of the schema.
 */
export function requestHash(method: string, path: string, body: unknown): string {
  return sha256Hex(JSON.stringify([method, path, body]));
}

/** The functions by which a slice makes and finds its resource. */
export interface Creation<Row> {
  organizationId: string;
  kind: string;
  /** The id for a new resource. */
  id: string;
  request: IdempotentRequest | undefined;
  create(tx: Transaction): Promise<Row>;
  find(tx: Transaction, id: string): Promise<Row | undefined>;
}

/**
 * Makes a resource once for a key: the key's row is committed with the resource or not at all.
 *
 * Another request with the same key waits in the store for the first one to commit.
 * @throws ApiError 422 when the key was used for another request, 409 when its resource was deleted since.
 */
export async function createOnce<Row>(
  db: Database,
  creation: Creation<Row>,
): Promise<{ row: Row; isReplayed: boolean }> {
  for (;;) {
    const made = await db.begin(async (tx) => {
      const { request } = creation;
      if (request === undefined || (await claimKey(tx, creation, request))) {
        return { row: await creation.create(tx), isReplayed: false };
      }
      const replayed = await replay(tx, creation, request);
      return replayed && { ...replayed, isReplayed: true };
    });
    if (made !== undefined) return made;
    // By itself, since the resource of the old key may be about to be removed, whose locks come before its keys.
    await deleteOldKeys(db, creation);
  }
}

/**
 * Makes a resource with `createOnce` after other work, which a repeated request is spared: what the resource is made of
 * may have gone since.
 * @throws ApiError as `createOnce` and `make`.
 */
export async function replayedOr<Row>(
  db: Database,
  { principal: { organizationId }, idempotency: request }: RepeatableRequest,
  find: (tx: Transaction, organizationId: string, id: string) => Promise<Row | undefined>,
  make: () => Promise<{ row: Row; isReplayed: boolean }>,
): Promise<{ row: Row; isReplayed: boolean }> {
  const byId = (tx: Transaction, id: string) => find(tx, organizationId, id);
  const replayed = request && (await db.begin((tx) => replay(tx, { organizationId, find: byId }, request)));
  return replayed === undefined ? await make() : { ...replayed, isReplayed: true };
}

/** Records that a resource is gone; called in the transaction that removes its row. */
export async function forgetResource(tx: Transaction, id: string): Promise<void> {
  await tx`update idempotency_keys set resource_id = null where resource_id = ${id}`;
}

const PRUNE_INTERVAL_MS = 10 * 60_000;

/** Deletes keys that are older than a day, now and every ten minutes. Returns a function that stops it. */
export function pruneKeys(db: Database, log: Log): () => void {
  const run = () => {
    pruneOldKeys(db).catch((error: unknown) => log.warn({ error }, "could not delete old idempotency keys"));
  };
  const timer = setInterval(run, PRUNE_INTERVAL_MS);
  run();
  return () => clearInterval(timer);
}

/** Deletes all keys older than a day. A key that another transaction has locked stays for the next time. */
export async function pruneOldKeys(db: Database): Promise<void> {
  await db`
    delete from idempotency_keys where (organization_id, key) in (
      select organization_id, key from idempotency_keys
      where created_at < now() - interval '24 hours' for update skip locked)`;
}

async function deleteOldKeys(
  db: Database,
  { organizationId, request }: Pick<Creation<unknown>, "organizationId" | "request">,
): Promise<void> {
  await db`
    delete from idempotency_keys
    where organization_id = ${organizationId} and key = ${request?.key ?? null}
      and created_at < now() - interval '24 hours'`;
}

/** @returns false when the key is taken. */
async function claimKey(
  tx: Transaction,
  creation: Creation<unknown>,
  request: IdempotentRequest,
): Promise<boolean> {
  const rows = await tx`
    insert into idempotency_keys (organization_id, key, request_hash, resource_kind, resource_id)
    values (${creation.organizationId}, ${request.key}, ${request.requestHash}, ${creation.kind}, ${creation.id})
    on conflict (organization_id, key) do nothing returning key`;
  return rows.length > 0;
}

/** @returns undefined for a key that is older than a day, or gone meanwhile: it counts as free. */
async function replay<Row>(
  tx: Transaction,
  creation: Pick<Creation<Row>, "organizationId" | "find">,
  request: IdempotentRequest,
): Promise<{ row: Row } | undefined> {
  const [kept] = await tx<{ requestHash: string; resourceId: string | null }[]>`
    select request_hash as "requestHash", resource_id as "resourceId" from idempotency_keys
    where organization_id = ${creation.organizationId} and key = ${request.key}
      and created_at >= now() - interval '24 hours'`;
  if (kept === undefined) return undefined;
  if (kept.requestHash !== request.requestHash) {
    throw invalid({ [IDEMPOTENCY_KEY]: ["This key was used for another request already."] });
  }
  const row = kept.resourceId === null ? undefined : await creation.find(tx, kept.resourceId);
  if (row === undefined) {
    throw new ApiError(
      409,
      "The resource that was made with this Idempotency-Key has been deleted since. Use a new key.",
    );
  }
  return { row };
}

// Gives an instance a new password. The former password stays valid for a grace period that the caller chooses.
import { createOnce } from "../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { newPassword } from "../../lib/secrets.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { changed, recordRequest } from "./events/record.ts";
import type { Passwords, StoredFormerPassword } from "./former-password.ts";
import { INSTANCE_KINDS } from "./instance-kinds.ts";
import type { Made } from "./routed-resource.ts";
import type { CredentialRotation } from "./rotation-schema.ts";
import { writePasswords, type NewPasswords } from "./rows.ts";
import { enqueueChange, lockInstance, refuseDeleting, type InstanceSearch } from "./desired-state.ts";

type Rotated = Passwords & { hostId: string; status: string; name: string };
type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/**
 * Rotates once for an Idempotency-Key, and answers with the instance after the rotation. A former password of an
 * earlier rotation is refused from then on.
 * @throws ApiError 404, or 409 when the instance is being deleted.
 */
export async function rotateCredentials<Row extends Rotated>(
  { db, vault }: KindContext,
  request: Request<CredentialRotation>,
  search: InstanceSearch<Row>,
): Promise<Made<Row>> {
  const { principal, params, idempotency, body } = request;
  const { organizationId } = principal;
  const { kind } = search;
  const { id } = params;
  return await createOnce(db, {
    organizationId,
    kind,
    id,
    request: idempotency,
    create: (tx) =>
      changeCredentials(tx, request, search, { action: "rotate-credentials", details: body }, (found) => ({
        sealedPassword: vault.seal(newPassword(), id),
        formerPassword: formerAfter(found, body.grace_seconds, Date.now()),
      })),
    find: (tx) => search.find(tx, organizationId, id),
  });
}

/**
 * Ends the grace period of the latest rotation at once; changes nothing when no grace period runs.
 * @throws ApiError 404, or 409 when the instance is being deleted.
 */
export async function endGrace<Row extends Rotated>(
  { db }: KindContext,
  request: Request<unknown>,
  search: InstanceSearch<Row>,
): Promise<Made<Row>> {
  const row = await db.begin(
    async (tx) =>
      await changeCredentials(tx, request, search, { action: "end-grace", details: {} }, (found) =>
        found.formerPassword === null ? null : { sealedPassword: found.sealedPassword, formerPassword: null },
      ),
  );
  return { row, isReplayed: false };
}

function formerAfter(
  { sealedPassword }: Passwords,
  graceSeconds: number,
  nowMs: number,
): StoredFormerPassword | null {
  if (graceSeconds === 0) return null;
  return { sealed: sealedPassword, expiresAt: new Date(nowMs + graceSeconds * 1_000).toISOString() };
}

/** @param passwordsOf the passwords after the change; null when they stay. */
async function changeCredentials<Row extends Rotated>(
  tx: Transaction,
  { principal, requestId, params: { id } }: Request<unknown>,
  search: InstanceSearch<Row>,
  audit: { action: string; details: Record<string, unknown> },
  passwordsOf: (found: Row) => NewPasswords | null,
): Promise<Row> {
  const { organizationId } = principal;
  const { kind, noun } = search;
  const found = await lockInstance(tx, search, organizationId, id);
  refuseDeleting(found, noun);
  const passwords = passwordsOf(found);
  if (passwords === null) return found;
  await writePasswords(tx, kind, id, passwords);
  await enqueueChange(tx, kind, found);
  const event = changed({ type: INSTANCE_KINDS[kind].type, id, name: found.name }, ["credentials"]);
  await recordRequest(tx, { principal, requestId, ...audit, kind, event });
  return (await search.find(tx, organizationId, id)) ?? found;
}

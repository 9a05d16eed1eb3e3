// Gives an application a new secret; the earlier secrets stay valid for a grace period that the caller chooses.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newPassword } from "../../../lib/secrets.ts";
import type { KindContext } from "../../kind.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import { enqueueWebSocketCluster, lockApplication, refuseDeleting } from "../desired-state.ts";
import { APPLICATION_KIND, applicationOf } from "./create.ts";
import type { SecretRotation } from "./schema.ts";
import { findApplication, writeSecrets, type ApplicationRow, type FormerSecret } from "./store.ts";

/** The server compares every request with all valid secrets, so their number is bounded. */
const MAX_FORMER_SECRETS = 10;

/**
 * Rotates once for an Idempotency-Key, and answers with the application after the rotation.
 * @throws ApiError 404, 409 when the cluster is being deleted, or 422.
 */
export async function rotateSecret(
  { db, vault }: KindContext,
  {
    principal,
    requestId,
    body,
    params: { id },
    idempotency,
  }: OperationRequest<SecretRotation, unknown, { id: string }>,
): Promise<{ row: ApplicationRow; isReplayed: boolean }> {
  const { organizationId } = principal;
  const find = (tx: Parameters<typeof findApplication>[0]) => findApplication(tx, organizationId, id);
  return await createOnce(db, {
    organizationId,
    kind: APPLICATION_KIND,
    id,
    request: idempotency,
    async create(tx) {
      const { cluster, application } = await lockApplication(tx, organizationId, id);
      refuseDeleting(cluster);
      const formerSecrets = formerAfter(application, body.grace_seconds, Date.now());
      await writeSecrets(tx, id, { sealedSecret: vault.seal(newPassword(), id), formerSecrets });
      await enqueueWebSocketCluster(tx, cluster);
      const about = { kind: APPLICATION_KIND, details: body };
      const event = changed(applicationOf(application), ["secret"]);
      await recordRequest(tx, { principal, requestId, action: "rotate-secret", ...about, event });
      return (await find(tx)) ?? application;
    },
    find,
  });
}

/** The earlier secrets of an application that are still valid. */
export function stillGood(secrets: FormerSecret[], nowMs: number): FormerSecret[] {
  return secrets.filter(({ expiresAt }) => Date.parse(expiresAt) > nowMs);
}

/** No earlier secret outlives the grace of this rotation, so a rotation without grace ends all of them. */
function formerAfter(application: ApplicationRow, graceSeconds: number, nowMs: number): FormerSecret[] {
  const latest = new Date(nowMs + graceSeconds * 1_000).toISOString();
  const earlier = application.formerSecrets.map(({ sealed, expiresAt }) => ({
    sealed,
    expiresAt: expiresAt < latest ? expiresAt : latest,
  }));
  const former = stillGood([{ sealed: application.sealedSecret, expiresAt: latest }, ...earlier], nowMs);
  if (former.length <= MAX_FORMER_SECRETS) return former;
  throw invalid({
    grace_seconds: [
      `${former.length - 1} earlier secrets are still good, which is the most. Rotate with 0 to end them all.`,
    ],
  });
}

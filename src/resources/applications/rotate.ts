// Gives an application a new deploy key; the former key is gone at once.
import { invalid, notFound } from "../../api/jsonapi/errors.ts";
import { createOnce } from "../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { refuseDeleting } from "../shared/desired-state.ts";
import { changed, recordRequest } from "../shared/events/record.ts";
import { KIND, resourceOf } from "./create.ts";
import { needsDeployKey, newDeployKey } from "./sources/deploy-key.ts";
import { findApplication, lockApplication, writeDeployKey, type ApplicationRow } from "./store.ts";

/**
 * Rotates once for an Idempotency-Key. The host key of the next fetch is believed like that of a first fetch.
 * @throws ApiError 404, 409 when the application is being deleted, or 422 without a repository behind SSH.
 */
export async function rotateDeployKey(
  { db, vault }: KindContext,
  { principal, requestId, params: { id }, idempotency }: OperationRequest<unknown, unknown, { id: string }>,
): Promise<{ row: ApplicationRow; isReplayed: boolean }> {
  const { organizationId } = principal;
  const find = (tx: Transaction) => findApplication(tx, organizationId, id);
  return await createOnce(db, {
    organizationId,
    kind: KIND,
    id,
    request: idempotency,
    async create(tx) {
      const application = await lockApplication(tx, organizationId, id);
      if (application === undefined) throw notFound("application");
      refuseDeleting(application, "application");
      if (!needsDeployKey(application.repository))
        throw invalid({
          repository: ["Only a repository behind SSH has a deploy key: ssh://… or git@host:path."],
        });
      const deployKey = newDeployKey(vault, id);
      await writeDeployKey(tx, id, deployKey);
      const event = changed(resourceOf(application), ["deploy_key"]);
      const about = { kind: KIND, details: { deploy_key: deployKey.publicKey } };
      await recordRequest(tx, { principal, requestId, action: "rotate-deploy-key", ...about, event });
      return { ...application, deployKey };
    },
    find,
  });
}

// Gives an instance a new password; the engine refuses the former password once the new password is in force.
import { createOnce } from "../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { newPassword } from "../../lib/secrets.ts";
import type { KindContext } from "../kind.ts";
import { changed, recordRequest } from "./events/record.ts";
import { INSTANCE_KINDS } from "./instance-kinds.ts";
import type { Made } from "./routed-resource.ts";
import { writePassword } from "./rows.ts";
import { enqueueChange, lockInstance, refuseDeleting, type InstanceSearch } from "./desired-state.ts";

/**
 * Rotates once for an Idempotency-Key, and answers with the instance after the rotation.
 * @throws ApiError 404, or 409 when the instance is being deleted.
 */
export async function rotateCredentials<
  Row extends { id: string; hostId: string; status: string; name: string },
>(
  { db, vault }: KindContext,
  { principal, requestId, params, idempotency }: OperationRequest<unknown, unknown, { id: string }>,
  search: InstanceSearch<Row>,
): Promise<Made<Row>> {
  const { organizationId } = principal;
  const { kind, noun } = search;
  const { id } = params;
  return await createOnce(db, {
    organizationId,
    kind,
    id,
    request: idempotency,
    async create(tx) {
      const found = await lockInstance(tx, search, organizationId, id);
      refuseDeleting(found, noun);
      await writePassword(tx, kind, id, vault.seal(newPassword(), id));
      await enqueueChange(tx, kind, found);
      const event = changed({ type: INSTANCE_KINDS[kind].type, id, name: found.name }, ["credentials"]);
      const record = { principal, requestId, action: "rotate-credentials", kind, details: {}, event };
      await recordRequest(tx, record);
      return (await search.find(tx, organizationId, id)) ?? found;
    },
    find: (tx) => search.find(tx, organizationId, id),
  });
}

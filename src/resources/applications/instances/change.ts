// Changes an instance: one transaction with the row, the work of its environment, the audit and the event.
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import { environmentResourceOf } from "../environments/create.ts";
import { lockEnvironment } from "../environments/store.ts";
import { enqueueEnvironment } from "../work.ts";
import type { InstanceChange } from "./schema.ts";
import { findInstance, updateInstance, type InstanceRow } from "./store.ts";

type Request = OperationRequest<InstanceChange, unknown, { id: string }>;

/** Another size starts the release anew, beside the former process. @throws ApiError 404 or 409 */
export async function changeInstance(
  { db }: KindContext,
  { principal, requestId, params: { id }, body }: Request,
): Promise<InstanceRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const found = await findInstance(tx, organizationId, id);
    const environment = found && (await lockEnvironment(tx, organizationId, found.environmentId));
    const instance = environment && (await findInstance(tx, organizationId, id));
    if (environment === undefined || instance === undefined) throw notFound("instance");
    refuseDeleting(environment, "environment");
    const settings = { ...instance.settings, size: body.size ?? instance.settings.size };
    await updateInstance(tx, id, { name: body.name ?? instance.name, settings });
    await enqueueEnvironment(tx, environment);
    const event = changed(environmentResourceOf(environment), ["instances"]);
    const details = { ...body, instance: id };
    await recordRequest(tx, { principal, requestId, action: "update", kind: "environments", details, event });
    return (await findInstance(tx, organizationId, id)) ?? instance;
  });
}

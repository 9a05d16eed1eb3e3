// Marks applications and environments for deletion; their reconcilers remove what runs, and then the rows.
import { invalid, notFound } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { DEADLINE_SECONDS } from "../shared/create.ts";
import { recordRequest } from "../shared/events/record.ts";
import { KIND, resourceOf } from "./create.ts";
import { environmentResourceOf } from "./environments/create.ts";
import { lockWithApplication } from "./environments/lock.ts";
import { markEnvironmentsDeleting } from "./environments/store.ts";
import { ENVIRONMENTS } from "./work.ts";
import { lockApplication, markApplicationDeleting } from "./store.ts";

type Request = OperationRequest<unknown, unknown, { id: string }>;

/** Marks the application with its environments; a repeated call changes nothing. @throws ApiError 404 */
export async function deleteApplication(
  { db }: KindContext,
  { principal, requestId, params: { id } }: Request,
): Promise<void> {
  await db.begin(async (tx) => {
    const application = await lockApplication(tx, principal.organizationId, id);
    if (application === undefined) throw notFound("application");
    if (application.status === "deleting") return;
    await markApplicationDeleting(tx, id);
    await markAndEnqueue(tx, application.environmentIds, application.hostId);
    await enqueue(tx, { kind: KIND, id, hostId: application.hostId, deadlineSeconds: DEADLINE_SECONDS });
    const event = { type: "deleting" as const, resource: resourceOf(application) };
    await recordRequest(tx, { principal, requestId, action: "delete", kind: KIND, details: {}, event });
  });
}

/**
 * Marks the environment; a repeated call changes nothing.
 * @throws ApiError 404, or 422 for the default environment of its application.
 */
export async function deleteEnvironment(
  { db }: KindContext,
  { principal, requestId, params: { id } }: Request,
): Promise<void> {
  const { organizationId } = principal;
  await db.begin(async (tx) => {
    const locked = await lockWithApplication(tx, organizationId, id);
    if (locked === undefined) throw notFound("environment");
    const { application, environment } = locked;
    if (environment.status === "deleting") return;
    if (application.defaultEnvironmentId === id) {
      throw invalid({
        environment: [
          "The default environment cannot be deleted: make another the default, or delete the application.",
        ],
      });
    }
    await markAndEnqueue(tx, [id], application.hostId);
    const event = { type: "deleting" as const, resource: environmentResourceOf(environment) };
    const details = { name: environment.name, application: application.id };
    await recordRequest(tx, { principal, requestId, action: "delete", kind: ENVIRONMENTS, details, event });
  });
}

async function markAndEnqueue(tx: Transaction, ids: readonly string[], hostId: string): Promise<void> {
  for (const id of await markEnvironmentsDeleting(tx, ids)) {
    await enqueue(tx, { kind: ENVIRONMENTS, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
  }
}

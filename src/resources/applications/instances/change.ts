// Creates, changes and deletes instances: each a transaction with the row, the work of the environment, the audit and
// the event.
import { ApiError, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { refuseExcessPorts } from "../../shared/port-quota.ts";
import { assertFewProcesses } from "../background-processes/bound.ts";
import { reallocateEnvironment } from "../environments/allocation.ts";
import { recordPartChange } from "../environments/part-change.ts";
import { lockEnvironment } from "../environments/store.ts";
import { orderScheduler } from "./scheduler.ts";
import type { InstanceChange, NewInstance } from "./schema.ts";
import { orderSleep } from "./sleep.ts";
import {
  eraseInstance,
  findInstance,
  insertInstance,
  isNameTaken,
  updateInstance,
  type InstanceRow,
  type InstanceSettings,
} from "./store.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

const MAX_INSTANCES = 10;

/** Adds an instance for background processes, or finds that of the same Idempotency-Key. @throws ApiError */
export async function createInstance(
  { db, quotas }: KindContext,
  request: Request<NewInstance>,
): Promise<{ row: InstanceRow; isReplayed: boolean }> {
  const { principal, params, body, idempotency } = request;
  const { organizationId } = principal;
  const { name, type } = body;
  const settings = settingsOf({ size: body.size }, body);
  const id = newId("inst");
  return await createOnce(db, {
    organizationId,
    kind: "instances",
    id,
    request: idempotency,
    async create(tx) {
      const environment = await lockEnvironment(tx, organizationId, params.id);
      if (environment === undefined) throw notFound("environment");
      refuseDeleting(environment, "environment");
      if (environment.processGroupIds.length >= MAX_INSTANCES)
        throw new ApiError(409, `An environment has at most ${MAX_INSTANCES} instances.`);
      await assertNameIsFree(tx, { id, environmentId: environment.id, name });
      await insertInstance(tx, { id, environmentId: environment.id, name, type, settings });
      await orderScheduler(tx, environment, { id, usesScheduler: false }, body.uses_scheduler);
      await assertFewProcesses(tx, environment.id, "uses_scheduler");
      await recordPartChange(tx, request, environment, {
        part: "instances",
        details: { ...body, instance: id },
      });
      await reallocateEnvironment(tx, quotas, principal, { id: environment.id, field: "size" });
      return (await findInstance(tx, organizationId, id)) ?? missing();
    },
    find: (tx, madeId) => findInstance(tx, organizationId, madeId),
  });
}

/** Another size starts the release anew, beside the former process. @throws ApiError 404, 409 or 422 */
export async function changeInstance(
  { db, quotas }: KindContext,
  request: Request<InstanceChange>,
): Promise<InstanceRow> {
  const { principal, params, body } = request;
  return await db.begin(async (tx) => {
    const { instance, environment } = await locked(tx, principal.organizationId, params.id);
    const { id, environmentId } = instance;
    const name = body.name ?? instance.name;
    await assertNameIsFree(tx, { id, environmentId, name });
    const settings = settingsOf(instance.settings, body);
    await updateInstance(tx, id, { name, settings });
    await orderScheduler(tx, environment, instance, body.uses_scheduler);
    await orderSleep(tx, environment, instance, body);
    const isScaled = [body.min_replicas, body.max_replicas].some((count) => count !== undefined);
    await assertFewProcesses(tx, environmentId, isScaled ? "max_replicas" : "uses_scheduler");
    await recordPartChange(tx, request, environment, {
      part: "instances",
      details: { ...body, instance: id },
    });
    const field = memoryFieldOf(instance.settings, body);
    const further = instance.type === "app" ? replicasOf(settings) - replicasOf(instance.settings) : 0;
    await refuseExcessPorts(tx, quotas, environment, { wanted: further, field: scalingFieldOf(body) });
    await reallocateEnvironment(tx, quotas, principal, { id: environmentId, field });
    return (await findInstance(tx, principal.organizationId, id)) ?? missing();
  });
}

/** Deletes an instance with its background processes. @throws ApiError 404, 409, or 422 for the serving instance. */
export async function deleteInstance({ db, quotas }: KindContext, request: Request<unknown>): Promise<void> {
  const { principal, params } = request;
  await db.begin(async (tx) => {
    const { instance, environment } = await locked(tx, principal.organizationId, params.id);
    if (instance.type === "app")
      throw invalid({ id: ["The instance that serves requests goes with its environment."] });
    await eraseInstance(tx, instance.id);
    await recordPartChange(tx, request, environment, {
      part: "instances",
      details: { deleted_instance: instance.id },
    });
    await reallocateEnvironment(tx, quotas, principal, { id: environment.id, field: "id" });
  });
}

/** @throws ApiError 422 for numbers of replicas that do not go together. */
function settingsOf(former: InstanceSettings, body: Partial<NewInstance> | InstanceChange): InstanceSettings {
  const { min_replicas: least, max_replicas: most, size = former.size } = body;
  if (least !== undefined && most !== undefined && least !== most)
    throw invalid({ max_replicas: ["It has to be as min_replicas: nothing scales by itself here."] });
  const asked = least ?? most;
  const type =
    body.scaling_type ?? (asked === undefined && former.replicas === undefined ? "none" : "custom");
  if (type === "custom") return { size, replicas: asked ?? former.replicas ?? 1 };
  if (asked !== undefined && asked !== 1)
    throw invalid({ scaling_type: ["Without scaling there is one replica; take the type `custom`."] });
  return { size };
}

function replicasOf({ replicas = 1 }: InstanceSettings): number {
  return replicas;
}

/** The member of a request that says how many replicas there are. */
function scalingFieldOf({ max_replicas: most }: InstanceChange): "min_replicas" | "max_replicas" {
  return most === undefined ? "min_replicas" : "max_replicas";
}

/** The member of a change that decides how much memory its processes have. */
function memoryFieldOf(former: InstanceSettings, body: InstanceChange): keyof InstanceChange {
  if (body.size !== undefined && body.size !== former.size) return "size";
  if ((body.min_replicas ?? body.max_replicas) !== undefined) return scalingFieldOf(body);
  return body.uses_scheduler === undefined ? "scaling_type" : "uses_scheduler";
}

async function assertNameIsFree(
  tx: Transaction,
  instance: Pick<InstanceRow, "id" | "environmentId" | "name">,
): Promise<void> {
  if (await isNameTaken(tx, instance))
    throw invalid({ name: [`The environment has an instance named ${instance.name}.`] });
}

/** @throws ApiError 404 or 409 */
async function locked(tx: Transaction, organizationId: string, id: string) {
  const found = await findInstance(tx, organizationId, id);
  const environment = found && (await lockEnvironment(tx, organizationId, found.environmentId));
  const instance = environment && (await findInstance(tx, organizationId, id));
  if (environment === undefined || instance === undefined) throw notFound("instance");
  refuseDeleting(environment, "environment");
  return { instance, environment };
}

function missing(): never {
  throw new Error("a written row is not there");
}

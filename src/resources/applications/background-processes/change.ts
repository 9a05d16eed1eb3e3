// Creates, changes and deletes background processes: each a transaction with the row, the work of the environment, the
// audit and the event.
import { invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { reallocateEnvironment } from "../environments/allocation.ts";
import { recordPartChange } from "../environments/part-change.ts";
import { lockEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { findInstance } from "../instances/store.ts";
import { assertFewProcesses } from "./bound.ts";
import type { BackgroundProcessChange, NewBackgroundProcess } from "./schema.ts";
import {
  eraseBackgroundProcess,
  findBackgroundProcess,
  insertBackgroundProcess,
  updateBackgroundProcess,
  type BackgroundProcessOrder,
  type BackgroundProcessRow,
} from "./store.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/** Adds a background process, or finds that which the same Idempotency-Key added before. @throws ApiError */
export async function createBackgroundProcess(
  { db, quotas }: KindContext,
  request: Request<NewBackgroundProcess>,
): Promise<{ row: BackgroundProcessRow; isReplayed: boolean }> {
  const { principal, params, body, idempotency } = request;
  const { organizationId } = principal;
  const order = orderOf({ ...body, command: body.command ?? null, config: body.config ?? {} });
  const id = newId("process");
  return await createOnce(db, {
    organizationId,
    kind: "background_processes",
    id,
    request: idempotency,
    async create(tx) {
      const environment = await lockedEnvironmentOf(tx, organizationId, params.id);
      await insertBackgroundProcess(tx, { id, instanceId: params.id, ...order });
      await assertFewProcesses(tx, environment.id, "processes");
      await recordPartChange(tx, request, environment, {
        part: "background_processes",
        details: { ...body, instance: params.id, background_process: id },
      });
      await reallocateEnvironment(tx, quotas, principal, { id: environment.id, field: "processes" });
      return (await findBackgroundProcess(tx, organizationId, id)) ?? missing();
    },
    find: (tx, madeId) => findBackgroundProcess(tx, organizationId, madeId),
  });
}

/** Processes with another command take the place of the former ones. @throws ApiError 404, 409 or 422 */
export async function changeBackgroundProcess(
  { db, quotas }: KindContext,
  request: Request<BackgroundProcessChange>,
): Promise<BackgroundProcessRow> {
  const { principal, params, body } = request;
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const { row, environment } = await locked(tx, organizationId, params.id);
    if (row.type === "scheduler") throw scheduled();
    if (row.procfileName !== null) refuseProcfile(body);
    const type = body.type ?? row.type;
    const config = body.config ?? (type === row.type ? row.config : {});
    const command = body.command ?? (type === row.type ? row.command : null);
    await updateBackgroundProcess(
      tx,
      row.id,
      orderOf({ type, processes: body.processes ?? row.processes, command, config }),
    );
    await assertFewProcesses(tx, environment.id, "processes");
    await recordPartChange(tx, request, environment, {
      part: "background_processes",
      details: { ...body, background_process: row.id },
    });
    await reallocateEnvironment(tx, quotas, principal, { id: environment.id, field: "processes" });
    return (await findBackgroundProcess(tx, organizationId, row.id)) ?? missing();
  });
}

/** @throws ApiError 404, 409, or 422 for a line of the Procfile or the scheduler. */
export async function deleteBackgroundProcess(
  { db, quotas }: KindContext,
  request: Request<unknown>,
): Promise<void> {
  const { principal, params } = request;
  await db.begin(async (tx) => {
    const { row, environment } = await locked(tx, principal.organizationId, params.id);
    if (row.type === "scheduler") throw scheduled();
    if (row.procfileName !== null)
      throw invalid({ id: [`The Procfile has a line ${row.procfileName}: take it out, and deploy.`] });
    await eraseBackgroundProcess(tx, row.id);
    await recordPartChange(tx, request, environment, {
      part: "background_processes",
      details: { deleted_background_process: row.id },
    });
    await reallocateEnvironment(tx, quotas, principal, { id: environment.id, field: "id" });
  });
}

/** @throws ApiError 422 for members that do not go together. */
function orderOf(order: BackgroundProcessOrder): BackgroundProcessOrder {
  const { type, command, config } = order;
  if (type === "custom" && command === null)
    throw invalid({ command: ["A custom process needs a command."] });
  if (type === "worker" && command !== null)
    throw invalid({ command: ["The command of a worker follows from its config; take the type `custom`."] });
  if (type === "custom" && Object.keys(config).length > 0)
    throw invalid({ config: ["Only a worker has options."] });
  return order;
}

function scheduled() {
  return invalid({ id: ["The scheduler follows `uses_scheduler` of its instance."] });
}

function refuseProcfile({ type, command, config }: BackgroundProcessChange): void {
  const member = Object.entries({ type, command, config }).find(([, value]) => value !== undefined);
  if (member !== undefined)
    throw invalid({
      [member[0]]: ["The Procfile of the release has this process; its number alone can be changed."],
    });
}

async function locked(tx: Transaction, organizationId: string, id: string) {
  const found = await findBackgroundProcess(tx, organizationId, id);
  if (found === undefined) throw notFound("background process");
  const environment = await lockedEnvironment(tx, organizationId, found.environmentId);
  const row = await findBackgroundProcess(tx, organizationId, id);
  if (row === undefined) throw notFound("background process");
  return { row, environment };
}

/** The environment of an instance. @throws ApiError 404 or 409 */
async function lockedEnvironmentOf(
  tx: Transaction,
  organizationId: string,
  instanceId: string,
): Promise<EnvironmentRow> {
  const found = await findInstance(tx, organizationId, instanceId);
  if (found === undefined) throw notFound("instance");
  const environment = await lockedEnvironment(tx, organizationId, found.environmentId);
  // The transaction that had the lock before may have deleted the instance.
  if ((await findInstance(tx, organizationId, instanceId)) === undefined) throw notFound("instance");
  return environment;
}

/** @throws ApiError 404 or 409 */
async function lockedEnvironment(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<EnvironmentRow> {
  const environment = await lockEnvironment(tx, organizationId, id);
  if (environment === undefined) throw notFound("environment");
  refuseDeleting(environment, "environment");
  return environment;
}

function missing(): never {
  throw new Error("a written row is not there");
}

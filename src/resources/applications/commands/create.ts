// Begins and cancels commands on request: one transaction with the row, its work, the audit and the event.
import { can, type Principal } from "../../../api/auth/auth.ts";
import { ApiError, forbidden, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { changed, recordRequest, type NewEvent } from "../../shared/events/record.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { KIND } from "../create.ts";
import { lockEnvironment } from "../environments/store.ts";
import { COMMANDS, enqueueCommand } from "../work.ts";
import type { NewCommand } from "./schema.ts";
import {
  findCommand,
  insertCommand,
  markCommandCancelled,
  openCommandCounts,
  type CommandRow,
} from "./store.ts";

/** How many commands may wait or run at once. */
const [MAX_OF_ENVIRONMENT, MAX_OF_FAMILY] = [5, 10];

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/**
 * Runs a command in the release that the environment serves.
 * @throws ApiError 403, 404, 409 while the environment is being deleted or has too many, or 422 before its first deployment.
 */
export async function createCommand(
  { db }: KindContext,
  { principal, requestId, params, body, idempotency }: Request<NewCommand>,
): Promise<Made<CommandRow>> {
  if (body.terminal === true) requireTerminalRights(principal);
  const { organizationId } = principal;
  const id = newId("comm");
  return await createOnce(db, {
    organizationId,
    kind: COMMANDS,
    id,
    request: idempotency,
    async create(tx) {
      const environment = await lockEnvironment(tx, organizationId, params.id);
      if (environment === undefined) throw notFound("environment");
      refuseDeleting(environment, "environment");
      const { currentDeploymentId: deploymentId, hostId, name } = environment;
      if (deploymentId === null)
        throw invalid({
          environment: ["Nothing is deployed yet, so there is nothing that a command could run in."],
        });
      await refuseTooMany(tx, principal.familyId, environment.id);
      const initiatorId = principal.kind === "session" ? principal.userId : null;
      const { command, terminal: hasTerminal = false } = body;
      const values = { id, environmentId: environment.id, deploymentId, command, hasTerminal, initiatorId };
      await insertCommand(tx, values);
      await enqueueCommand(tx, id, hostId);
      const event = { type: "created" as const, resource: commandResourceOf({ id, environmentName: name }) };
      const details = { environment: environment.id, ...(hasTerminal && { terminal: true }) };
      await recordRequest(tx, { principal, requestId, action: "create", kind: COMMANDS, details, event });
      const row = await findCommand(tx, organizationId, id);
      if (row === undefined) throw new Error("an insert gave no row");
      return row;
    },
    find: (tx, madeId) => findCommand(tx, organizationId, madeId),
  });
}

/** Has a command ended; an ended command stays as it is. @throws ApiError 404 */
export async function cancelCommand(
  { db }: KindContext,
  { principal, requestId, params: { id } }: Request<unknown>,
): Promise<CommandRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const command = await findCommand(tx, organizationId, id);
    if (command === undefined) throw notFound("command");
    if (command.finishedAt !== null || command.isCancelled) return command;
    // Work is locked before its rows, as by the outcomes of runs.
    await enqueueCommand(tx, id, command.hostId);
    await markCommandCancelled(tx, id);
    const event = changed(commandResourceOf(command), ["status"]);
    await recordRequest(tx, { principal, requestId, action: "cancel", kind: COMMANDS, details: {}, event });
    return (await findCommand(tx, organizationId, id)) ?? command;
  });
}

/** Has a command ended whose client has gone before it ran. */
export async function abandonCommand({ db }: KindContext, { id, hostId }: CommandRow): Promise<void> {
  await db.begin(async (tx) => {
    await enqueueCommand(tx, id, hostId);
    await markCommandCancelled(tx, id);
  });
}

/**
 * A terminal takes what the command is to do, and shows all that it prints, secrets included.
 * @throws ApiError 403
 */
export function requireTerminalRights(principal: Principal): void {
  const lacking = [`${KIND}:write`, `${KIND}:credentials`].filter((ability) => !can(principal, ability));
  if (lacking.length > 0) throw forbidden(lacking);
}

/** The command of an event: the name is that of its environment, since a command may have a secret in it. */
export function commandResourceOf({
  id,
  environmentName,
}: Pick<CommandRow, "id" | "environmentName">): NewEvent["resource"] {
  return { type: "commands", id, name: environmentName };
}

/** @throws ApiError 409 */
async function refuseTooMany(tx: Transaction, familyId: string, environmentId: string): Promise<void> {
  const { ofEnvironment, ofFamily } = await openCommandCounts(tx, familyId, environmentId);
  const [owner, most] =
    ofEnvironment >= MAX_OF_ENVIRONMENT
      ? ["environment", MAX_OF_ENVIRONMENT]
      : ["organization", MAX_OF_FAMILY];
  if (ofEnvironment < MAX_OF_ENVIRONMENT && ofFamily < MAX_OF_FAMILY) return;
  throw new ApiError(
    409,
    `${most} commands of the ${owner} run already. Wait for one of them, or cancel it.`,
  );
}

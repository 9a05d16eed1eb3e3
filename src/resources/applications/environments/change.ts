// Changes an environment and its variables: one transaction with the row, the audit and the event.
import { isDeepStrictEqual } from "node:util";
import { can, type Principal } from "../../../api/auth/auth.ts";
import { forbidden, invalid, notFound, type FieldErrors } from "../../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import { environmentResourceOf, nameIsTaken } from "./create.ts";
import { lockWithApplication } from "./lock.ts";
import { attachmentFaults } from "./attachments.ts";
import { purgeAfter } from "./edge-cache.ts";
import type { EnvironmentChange } from "./schema.ts";
import {
  environmentsOf,
  findEnvironment,
  updateEnvironment,
  type Attachments,
  type EnvironmentOrder,
  type EnvironmentRow,
} from "./store.ts";
import { servingFaults } from "./serving.ts";
import { NOT_WOKEN, type EnvironmentSettings } from "./settings.ts";
import type { VariablesDeletion, VariablesInsert } from "./variable-schema.ts";
import type { Vault } from "../../../lib/secrets.ts";
import { newHook } from "../sources/hook-secret.ts";
import { enqueueEnvironment } from "../work.ts";
import { inserted, openVariables, sealVariables, withoutKeys } from "./variables.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/** A change of an environment, and what the audit says of it: never a value of a variable. */
interface Change {
  order: EnvironmentOrder;
  fields: string[];
  details: Record<string, unknown>;
  /** The word of the audit for it; `update` when left out. */
  action?: string;
}

/**
 * Writes a change of settings and attachments.
 * @throws ApiError 404, 409 when the environment is being deleted, or 422.
 */
export async function changeEnvironment(
  context: KindContext,
  request: Request<EnvironmentChange>,
): Promise<EnvironmentRow> {
  return await writeChange(context, request, async (tx, environment) => {
    const order = orderOf(request.body, environment, context.vault);
    refuseUnseen(request.principal, environment, order);
    await check(tx, request.principal.organizationId, environment, order);
    return { order, fields: Object.keys(request.body), details: request.body };
  });
}

/** Adds and changes variables. @throws ApiError as `changeEnvironment`. */
export async function insertVariables(
  context: KindContext,
  request: Request<VariablesInsert>,
): Promise<EnvironmentRow> {
  const keys = request.body.variables.map(({ key }) => key);
  return await changeVariables(context, request, keys, (present) => inserted(present, request.body));
}

/** Deletes variables, all or none. @throws ApiError as `changeEnvironment`. */
export async function deleteVariables(
  context: KindContext,
  request: Request<VariablesDeletion>,
): Promise<EnvironmentRow> {
  const { keys } = request.body;
  return await changeVariables(context, request, keys, (present) => withoutKeys(present, keys));
}

async function changeVariables(
  context: KindContext,
  request: Request<unknown>,
  keys: string[],
  changeOf: (present: ReturnType<typeof openVariables>) => ReturnType<typeof openVariables>,
): Promise<EnvironmentRow> {
  const { vault } = context;
  return await writeChange(context, request, async (_tx, environment) => {
    const { id } = environment;
    const variables = changeOf(openVariables(vault, id, environment.sealedVariables));
    const order = { ...environment, sealedVariables: sealVariables(vault, id, variables) };
    return { order, fields: ["environment_variables"], details: { keys } };
  });
}

/**
 * Writes a change in one transaction with its work, its audit and its event.
 * @throws ApiError 404, or 409 when the environment is being deleted.
 */
export async function writeChange(
  { db }: KindContext,
  { principal, requestId, params: { id } }: Request<unknown>,
  changeOf: (tx: Transaction, environment: EnvironmentRow) => Promise<Change>,
): Promise<EnvironmentRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    // Names are compared with those of the other environments, so no two of an application change at once.
    const { environment } = (await lockWithApplication(tx, organizationId, id)) ?? {};
    if (environment === undefined) throw notFound("environment");
    refuseDeleting(environment, "environment");
    const { order, fields, details, action = "update" } = await changeOf(tx, environment);
    await updateEnvironment(tx, id, order);
    await enqueueEnvironment(tx, environment);
    const event = changed(environmentResourceOf({ id, name: order.name }), fields);
    const record = { principal, requestId, action, kind: "environments", details, event };
    await recordRequest(tx, record);
    return (await findEnvironment(tx, organizationId, id)) ?? environment;
  });
}

async function check(
  tx: Transaction,
  organizationId: string,
  former: EnvironmentRow,
  order: EnvironmentOrder,
): Promise<void> {
  const others = (await environmentsOf(tx, [former.applicationId])).filter(({ id }) => id !== former.id);
  if (others.some(({ name }) => name === order.name)) throw nameIsTaken(order.name);
  const errors: FieldErrors = await attachmentFaults(tx, organizationId, newAttachments(former, order));
  if (others.some(({ slug }) => slug === order.slug)) {
    errors.slug = [`The application has an environment with the slug ${order.slug}.`];
  }
  if (order.settings.hibernation_wake_up_interval !== null && !order.settings.uses_hibernation) {
    errors.hibernation_wake_up_interval = [NOT_WOKEN];
  }
  Object.assign(errors, servingFaults(order.settings));
  if (!isDeepStrictEqual(errors, {})) throw invalid(errors);
}

/** The attachments that a change makes; those of before stay whatever their state. */
function newAttachments(former: Attachments, order: Attachments): Attachments {
  const attachedNow = (name: keyof Attachments) => (order[name] === former[name] ? null : order[name]);
  return {
    databaseSchemaId: attachedNow("databaseSchemaId"),
    cacheId: attachedNow("cacheId"),
    websocketApplicationId: attachedNow("websocketApplicationId"),
  };
}

const ATTACHED_KINDS = {
  databaseSchemaId: "databases",
  cacheId: "caches",
  websocketApplicationId: "websockets",
} as const;

/**
 * An application can read the credentials of what it is attached to, so attaching needs the ability to see them.
 * @throws ApiError 403 that names the ability.
 */
function refuseUnseen(principal: Principal, former: Attachments, order: Attachments): void {
  const wanted = newAttachments(former, order);
  for (const [name, kind] of Object.entries(ATTACHED_KINDS) as [keyof Attachments, string][]) {
    const needed = `${kind}:credentials`;
    if (wanted[name] !== null && !can(principal, needed)) throw forbidden([needed]);
  }
}

/** A hook that is turned off loses its secret for good. */
function hookOf(
  { uses_deploy_hook: isUsed }: EnvironmentChange,
  { id, deployHook }: EnvironmentRow,
  vault: Vault,
): EnvironmentOrder["deployHook"] {
  if (isUsed === undefined) return deployHook;
  return isUsed ? (deployHook ?? newHook(vault, id)) : null;
}

/** A member that is left out stays; null or an empty text detaches a resource. */
function orderOf(body: EnvironmentChange, former: EnvironmentRow, vault: Vault): EnvironmentOrder {
  const { name, slug, branch, database_schema_id, cache_id, websocket_application_id, ...others } = body;
  const { firewall_under_attack_mode: isUnderAttack, ...settings } = others;
  const attack = { under_attack_mode_started_at: attackBegin(isUnderAttack, former.settings) };
  const next: EnvironmentSettings = Object.assign({}, former.settings, settings, attack);
  return {
    name: name ?? former.name,
    slug: slug ?? former.slug,
    branch: branch ?? former.branch,
    settings: { ...next, ...purgeAfter(former.settings, next) },
    sealedVariables: former.sealedVariables,
    deployHook: hookOf(body, former, vault),
    databaseSchemaId: attached(database_schema_id, former.databaseSchemaId),
    cacheId: attached(cache_id, former.cacheId),
    websocketApplicationId: attached(websocket_application_id, former.websocketApplicationId),
  };
}

/** Under-attack mode that is switched on while it is on has begun when it was switched on first. */
function attackBegin(
  isWanted: boolean | undefined,
  { under_attack_mode_started_at: former = null }: EnvironmentSettings,
): string | null {
  if (isWanted === undefined) return former;
  return isWanted ? (former ?? new Date().toISOString()) : null;
}

function attached(wanted: string | null | undefined, present: string | null): string | null {
  if (wanted === undefined) return present;
  return wanted === "" ? null : wanted;
}

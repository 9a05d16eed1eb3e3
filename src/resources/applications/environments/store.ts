// The rows of environments: every SQL statement about them.
import { forgetResource } from "../../../api/operation/idempotency.ts";
import type { Page } from "../../../api/jsonapi/pagination.ts";
import { storableText } from "../../../lib/storable.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { recordEvent } from "../../shared/events/record.ts";
import { among } from "../../shared/lists.ts";
import { momentSql } from "../../shared/moments.ts";
import { forgetReleases } from "../storage.ts";
import { forgetEnvironment } from "./allocation.ts";
import type { EnvironmentStatus } from "./schema.ts";
import type { EnvironmentSettings } from "./settings.ts";

/** The resources that an environment uses, by their ids. */
export interface Attachments {
  databaseSchemaId: string | null;
  cacheId: string | null;
  websocketApplicationId: string | null;
}

/** The secret of an environment's deploy hook. */
export interface DeployHook {
  sealed: string;
  /** Finds the environment of a secret. */
  hash: string;
}

/** The members that a customer may change later. */
export interface EnvironmentOrder extends Attachments {
  name: string;
  slug: string;
  branch: string;
  settings: EnvironmentSettings;
  sealedVariables: string;
  /** Null without a hook. */
  deployHook: DeployHook | null;
}

/** The properties that an environment gets at its creation. */
interface EnvironmentValues extends EnvironmentOrder {
  id: string;
  applicationId: string;
  /** The first label of its address below the domain of applications. */
  vanityName: string;
}

export interface EnvironmentRow extends EnvironmentValues {
  organizationId: string;
  familyId: string;
  hostId: string;
  status: Exclude<EnvironmentStatus, "hibernating">;
  currentDeploymentId: string | null;
  /** The plan of the current deployment. */
  plan: Plan | null;
  /** The id of the process that serves; null while none does. */
  servingId: string | null;
  refusedDigest: string | null;
  lastError: string | null;
  /** Why the latest run did not bring it to its order; null when it did. May quote output. */
  workError: string | null;
  processGroupIds: string[];
  /** The newest first. */
  deploymentIds: string[];
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

/** How many deployments, the newest first, an environment names. */
export const RELATED_DEPLOYMENTS = 10;

/** A constant, safe to insert into a statement. */
const SELECT = `
  select e.id, e.application_id as "applicationId", a.organization_id as "organizationId",
         (select family_id from organizations where id = a.organization_id) as "familyId", a.host_id as "hostId",
         e.name, e.slug, e.branch,
         case when e.status = 'running' and exists (
           select from deployments where environment_id = e.id and finished_at is null) then 'deploying'
         else e.status end as status,
         (select plan from deployments where id = e.current_deployment_id) as plan,
         (select id from application_processes
           where environment_id = e.id and state = 'serving' and background_process_id is null
           order by id limit 1) as "servingId",
         case when e.deploy_hook_hash is not null then
           jsonb_build_object('sealed', e.sealed_deploy_hook, 'hash', e.deploy_hook_hash)
         end as "deployHook",
         e.refused_digest as "refusedDigest", e.last_error as "lastError",
         (select last_error from work where kind = 'environments' and id = e.id) as "workError",
         e.vanity_name as "vanityName", e.settings, e.sealed_variables as "sealedVariables",
         e.database_schema_id as "databaseSchemaId", e.cache_id as "cacheId",
         e.websocket_application_id as "websocketApplicationId",
         e.current_deployment_id as "currentDeploymentId", ${momentSql("e.created_at")} as "createdAt",
         array(select id from deployments where environment_id = e.id order by id desc limit ${RELATED_DEPLOYMENTS})
           as "deploymentIds",
         array(select id from process_groups where environment_id = e.id order by id) as "processGroupIds"
  from environments e join applications a on a.id = e.application_id`;

/** Adds an environment that was never deployed. */
export async function insertEnvironment(tx: Transaction, values: EnvironmentValues): Promise<void> {
  await tx`
    insert into environments (
      id, application_id, name, slug, branch, status, vanity_name, settings, sealed_variables)
    values (
      ${values.id}, ${values.applicationId}, ${values.name}, ${values.slug}, ${values.branch}, 'running',
      ${values.vanityName}, ${values.settings}::jsonb, ${values.sealedVariables})`;
}

/** The organization's environment with this id. */
export async function findEnvironment(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<EnvironmentRow | undefined> {
  const [row] = await db<EnvironmentRow[]>`
    ${db.unsafe(SELECT)} where e.id = ${id} and a.organization_id = ${organizationId}`;
  return row;
}

/** Any organization's environment, for the reconciler. */
export async function loadEnvironment(db: Queryable, id: string): Promise<EnvironmentRow | undefined> {
  const [row] = await db<EnvironmentRow[]>`${db.unsafe(SELECT)} where e.id = ${id}`;
  return row;
}

/** The environment whose deploy hook has the secret with this hash. */
export async function environmentOfHook(db: Queryable, hash: string): Promise<EnvironmentRow | undefined> {
  const [row] = await db<EnvironmentRow[]>`${db.unsafe(SELECT)} where e.deploy_hook_hash = ${hash}`;
  return row;
}

/** The organization's environment, locked until the transaction ends; see `lockApplication` for the order of locks. */
export async function lockEnvironment(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<EnvironmentRow | undefined> {
  await tx`
    select from environments e join applications a on a.id = e.application_id
    where e.id = ${id} and a.organization_id = ${organizationId} for no key update of e`;
  return await findEnvironment(tx, organizationId, id);
}

/** The filter and the page of a list. */
interface EnvironmentSearch {
  applicationId: string;
  names: readonly string[];
  slugs: readonly string[];
  page: Page;
}

/** A page of an application's environments, the oldest first, and the number of environments on all pages. */
export async function listEnvironments(
  db: Database,
  { applicationId, names, slugs, page }: EnvironmentSearch,
): Promise<{ rows: EnvironmentRow[]; total: number }> {
  const matching = db`
    where e.application_id = ${applicationId} ${among(db, "e.name", names)} ${among(db, "e.slug", slugs)}`;
  const [rows, counted] = await Promise.all([
    db<EnvironmentRow[]>`
      ${db.unsafe(SELECT)} ${matching}
      order by e.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`select count(*)::int as total from environments e ${matching}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** All environments of these applications. */
export async function environmentsOf(db: Queryable, applicationIds: string[]): Promise<EnvironmentRow[]> {
  return await db<EnvironmentRow[]>`
    ${db.unsafe(SELECT)} where e.application_id = any(${db.array(applicationIds, "text")}) order by e.id`;
}

/** The organization's environments among these. */
export async function environmentsWithIds(
  db: Queryable,
  organizationId: string,
  ids: string[],
): Promise<EnvironmentRow[]> {
  return await db<EnvironmentRow[]>`
    ${db.unsafe(SELECT)} where e.id = any(${db.array(ids, "text")}) and a.organization_id = ${organizationId}
    order by e.id`;
}

/** Replaces the order of an environment. */
export async function updateEnvironment(tx: Transaction, id: string, order: EnvironmentOrder): Promise<void> {
  await tx`
    update environments
    set name = ${order.name}, slug = ${order.slug}, branch = ${order.branch}, settings = ${order.settings}::jsonb,
        sealed_variables = ${order.sealedVariables}, sealed_deploy_hook = ${order.deployHook?.sealed ?? null},
        deploy_hook_hash = ${order.deployHook?.hash ?? null}, database_schema_id = ${order.databaseSchemaId},
        cache_id = ${order.cacheId}, websocket_application_id = ${order.websocketApplicationId},
        refused_digest = null
    where id = ${id}`;
}

/** Forgets which order was refused, so that it is tried again. */
export async function forgetRefusal(tx: Transaction, id: string): Promise<void> {
  await tx`update environments set refused_digest = null where id = ${id}`;
}

/**
 * Marks environments for deletion. An environment that is being deleted already is not waited for: its removal locks its
 * work before its row.
 * @returns the ids of the others, in their order.
 */
export async function markEnvironmentsDeleting(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with locked as materialized (
      select id from environments where id = any(${tx.array([...ids], "text")}) and status <> 'deleting'
      order by id for no key update)
    update environments set status = 'deleting' from locked where environments.id = locked.id
    returning environments.id`;
  for (const { id } of rows) await notify(tx, "status", id);
  return rows.map(({ id }) => id).toSorted();
}

/** Orders that an environment runs, or that nothing of it runs. An environment that is being deleted stays so. */
export async function writeEnvironmentOrder(
  tx: Transaction,
  id: string,
  status: "running" | "stopped",
): Promise<void> {
  await tx`update environments set status = ${status} where id = ${id} and status <> 'deleting'`;
  await notify(tx, "status", id);
}

/** Notes that the present order could not be brought into force, and why; null that it was. */
export async function writeRefusal(
  tx: Queryable,
  id: string,
  refusal: { digest: string; reason: string } | null,
): Promise<void> {
  // The reason may have lines of the customer's own program.
  const reason = refusal === null ? null : storableText(refusal.reason);
  await tx`
    update environments set refused_digest = ${refusal?.digest ?? null}, last_error = ${reason}
    where id = ${id}`;
  await notify(tx, "status", id);
}

/** Makes a deployment the one whose release serves; the order is in force, so no refusal of it is left. */
export async function writeCurrentDeployment(
  tx: Transaction,
  id: string,
  deploymentId: string,
): Promise<void> {
  await tx`
    update environments set current_deployment_id = ${deploymentId}, refused_digest = null, last_error = null
    where id = ${id}`;
  await notify(tx, "status", id);
}

/** Removes all rows of an environment; only its audit and its events stay. */
export async function eraseEnvironment(
  tx: Transaction,
  { id, name, organizationId }: EnvironmentRow,
): Promise<void> {
  await tx`delete from instances where kind = 'environments' and resource_id = ${id}`;
  await tx`delete from work where kind = 'commands' and id in (select id from commands where environment_id = ${id})`;
  await tx`delete from commands where environment_id = ${id}`;
  await tx`delete from work where kind = 'deployments' and id in (select id from deployments where environment_id = ${id})`;
  await tx`delete from deployments where environment_id = ${id}`;
  await tx`delete from process_groups where environment_id = ${id}`;
  await tx`delete from environments where id = ${id}`;
  await forgetResource(tx, id);
  await notify(tx, "status", id);
  await recordEvent(tx, { organizationId, type: "deleted", resource: { type: "environments", id, name } });
  // The measurement of its releases takes the sums after their row, so that row comes first.
  await forgetReleases(tx, id);
  await forgetEnvironment(tx, id);
}

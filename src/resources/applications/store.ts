// The rows of applications: every SQL statement about them.
import { forgetResource } from "../../api/operation/idempotency.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { recordEvent } from "../shared/events/record.ts";
import { listRows, type ListRequest, type RowPage } from "../shared/lists.ts";
import type { CloudRegion } from "../shared/regions.ts";
import { CREATED_AT } from "../shared/rows.ts";
import { forgetRepository } from "./storage.ts";
import type { ApplicationStatus } from "./schema.ts";

/** The repository that commits are fetched from. */
export interface Repository {
  url: string;
  defaultBranch: string;
  /** Whether its server has named the default branch, which is an assumption before. */
  isBranchKnown?: true;
}

/** The key pair with which commits are fetched over SSH. */
export interface DeployKey {
  /** OpenSSH's form. */
  publicKey: string;
  /** The private half. */
  sealed: string;
}

/** The login with which commits are fetched over HTTPS. */
export interface RepositoryLogin {
  username: string;
  /** The password or token. */
  sealed: string;
}

/** The members that a customer may change later. */
export interface ApplicationSettings {
  name: string;
  slug: string;
  repository: Repository | null;
  /** Null without a repository behind SSH. */
  deployKey: DeployKey | null;
  repositoryLogin: RepositoryLogin | null;
  rootDirectory: string | null;
  slackChannel: string | null;
  defaultEnvironmentId: string | null;
}

/** The properties that an application gets at its creation. */
export interface ApplicationValues extends ApplicationSettings {
  id: string;
  organizationId: string;
  hostId: string;
  region: CloudRegion;
}

export interface ApplicationRow extends ApplicationValues {
  status: ApplicationStatus;
  /** The ids of its environments, the oldest first. */
  environmentIds: string[];
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

/** A constant, safe to insert into a statement. */
const SELECT = `
  select r.id, r.organization_id as "organizationId", r.host_id as "hostId", r.name, r.slug, r.region, r.repository,
         case when r.deploy_key is not null then
           jsonb_build_object('publicKey', r.deploy_key, 'sealed', r.sealed_deploy_key)
         end as "deployKey",
         case when r.repository_username is not null then
           jsonb_build_object('username', r.repository_username, 'sealed', r.sealed_repository_password)
         end as "repositoryLogin",
         r.root_directory as "rootDirectory", r.slack_channel as "slackChannel",
         r.default_environment_id as "defaultEnvironmentId", r.status, ${CREATED_AT} as "createdAt",
         array(select id from environments where application_id = r.id order by id) as "environmentIds"
  from applications r`;

/** Adds an application. */
export async function insertApplication(tx: Transaction, values: ApplicationValues): Promise<void> {
  await tx`
    insert into applications (
      id, organization_id, host_id, name, slug, region, repository, deploy_key, sealed_deploy_key, repository_username,
      sealed_repository_password, root_directory, slack_channel, default_environment_id)
    values (
      ${values.id}, ${values.organizationId}, ${values.hostId}, ${values.name}, ${values.slug}, ${values.region},
      ${values.repository}::jsonb, ${values.deployKey?.publicKey ?? null}, ${values.deployKey?.sealed ?? null},
      ${values.repositoryLogin?.username ?? null}, ${values.repositoryLogin?.sealed ?? null},
      ${values.rootDirectory}, ${values.slackChannel}, ${values.defaultEnvironmentId})`;
}

/** The organization's application with this id. */
export async function findApplication(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ApplicationRow | undefined> {
  const [row] = await db<ApplicationRow[]>`
    ${db.unsafe(SELECT)} where r.id = ${id} and r.organization_id = ${organizationId}`;
  return row;
}

/** The organization's application with this id or slug. */
export async function findApplicationNamed(
  db: Queryable,
  organizationId: string,
  name: string,
): Promise<ApplicationRow | undefined> {
  const [row] = await db<ApplicationRow[]>`
    ${db.unsafe(SELECT)} where r.organization_id = ${organizationId} and (r.id = ${name} or r.slug = ${name})
    order by (r.id = ${name}) desc limit 1`;
  return row;
}

/**
 * The organization's application, locked until the transaction ends, so that no other transaction makes or deletes an
 * environment of it meanwhile. Transactions lock an application first, then its environments, their deployments, and
 * last their work; ARCHITECTURE.md has the whole order. A lock of a key would hold up rows that refer to it, and so turn
 * that order around.
 */
export async function lockApplication(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<ApplicationRow | undefined> {
  await tx`select from applications where id = ${id} and organization_id = ${organizationId} for no key update`;
  return await findApplication(tx, organizationId, id);
}

/** Notes the default branch that the server of a repository has named; a change to another repository stays. */
export async function writeDefaultBranch(
  tx: Transaction,
  id: string,
  { url, defaultBranch }: Pick<Repository, "url" | "defaultBranch">,
): Promise<void> {
  const repository: Repository = { url, defaultBranch, isBranchKnown: true };
  await tx`
    update applications set repository = ${repository}::jsonb where id = ${id} and repository ->> 'url' = ${url}`;
}

/** A page of the organization's applications, the oldest first, and the number of applications on all pages. */
export async function listApplications(db: Database, search: ListRequest): Promise<RowPage<ApplicationRow>> {
  return await listRows(db, "applications", SELECT, search);
}

/** Has every other transaction that chooses a slug of the organization wait for this one. */
export async function lockNames(tx: Transaction, organizationId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`applications of ${organizationId}`}, 0))`;
}

/** How many applications the organization has; others that are being made count once they are committed. */
export async function countApplications(tx: Transaction, organizationId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from applications where organization_id = ${organizationId}`;
  return row?.count ?? 0;
}

/** The slugs of the organization that begin with a text. */
export async function slugsLike(tx: Transaction, organizationId: string, slug: string): Promise<string[]> {
  // A slug has no character that has a meaning in a pattern.
  const rows = await tx<{ slug: string }[]>`
    select slug from applications where organization_id = ${organizationId} and slug like ${`${slug}%`}`;
  return rows.map((row) => row.slug);
}

/** Replaces the settings of an application. */
export async function updateApplication(
  tx: Transaction,
  id: string,
  settings: ApplicationSettings,
): Promise<void> {
  await tx`
    update applications
    set name = ${settings.name}, slug = ${settings.slug}, repository = ${settings.repository}::jsonb,
        deploy_key = ${settings.deployKey?.publicKey ?? null},
        sealed_deploy_key = ${settings.deployKey?.sealed ?? null},
        repository_username = ${settings.repositoryLogin?.username ?? null},
        sealed_repository_password = ${settings.repositoryLogin?.sealed ?? null},
        root_directory = ${settings.rootDirectory}, slack_channel = ${settings.slackChannel},
        default_environment_id = ${settings.defaultEnvironmentId}
    where id = ${id}`;
}

/** Replaces the deploy key of an application. */
export async function writeDeployKey(tx: Transaction, id: string, key: DeployKey): Promise<void> {
  await tx`
    update applications set deploy_key = ${key.publicKey}, sealed_deploy_key = ${key.sealed} where id = ${id}`;
}

/** Marks an application for deletion. */
export async function markApplicationDeleting(tx: Transaction, id: string): Promise<void> {
  await tx`update applications set status = 'deleting' where id = ${id}`;
  await notify(tx, "status", id);
}

/** Any organization's application, for the reconciler. */
export async function loadApplication(db: Queryable, id: string): Promise<ApplicationRow | undefined> {
  const [row] = await db<ApplicationRow[]>`${db.unsafe(SELECT)} where r.id = ${id}`;
  return row;
}

/** Removes an application without environments; only its audit and its events stay. */
export async function eraseApplication(
  tx: Transaction,
  { id, name, organizationId }: ApplicationRow,
): Promise<void> {
  await tx`delete from applications where id = ${id}`;
  await forgetResource(tx, id);
  await notify(tx, "status", id);
  await recordEvent(tx, { organizationId, type: "deleted", resource: { type: "applications", id, name } });
  await forgetRepository(tx, id);
}

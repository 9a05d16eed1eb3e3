// The rows of deployments: every SQL statement about them.
import type { Plan } from "../../../contracts/plan.ts";
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import { among } from "../../shared/lists.ts";
import { momentSql } from "../../shared/moments.ts";
import type { EnvironmentSettings } from "../environments/settings.ts";
import { DEPLOYMENTS } from "../work.ts";
import { isEnd, type DeploymentStatus } from "./schema.ts";

/** The commit whose source is deployed. */
export interface Commit {
  /** As it was asked for, so maybe shortened, before the commit is fetched. */
  hash: string;
  /** Null before the commit is fetched. */
  message: string | null;
  author: string | null;
}

/** The properties that a deployment gets at its creation. */
interface DeploymentValues {
  id: string;
  environmentId: string;
  branch: string;
  /** Null while the newest commit of the branch is not known yet. */
  commit: Commit | null;
  initiatorId: string | null;
  settings: EnvironmentSettings;
  /** The deployment whose release is started again; null for a deployment that builds. */
  releaseOf: string | null;
}

/** A step of a rollout, for the log of its deployment. */
export interface RolloutStep {
  step: string;
  status: "running" | "finished" | "failed" | "skipped";
  description: string;
  /** ISO 8601. */
  startedAt: string;
  durationMs?: number;
}

export interface DeploymentRow extends DeploymentValues {
  status: DeploymentStatus;
  /** Null before the source was read. */
  plan: Plan | null;
  steps: RolloutStep[];
  failureReason: string | null;
  /** UTC with microseconds, ISO 8601; so are the following. */
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** A constant, safe to insert into a statement. */
const SELECT = `
  select d.id, d.environment_id as "environmentId", d.status, d.branch, d.initiator_id as "initiatorId", d.settings,
         d.release_of as "releaseOf", d.plan, d.steps, d.failure_reason as "failureReason",
         case when d.commit_hash is not null then
           jsonb_build_object('hash', d.commit_hash, 'message', d.commit_message, 'author', d.commit_author)
         end as commit,
         ${momentSql("d.created_at")} as "createdAt", ${momentSql("d.started_at")} as "startedAt",
         ${momentSql("d.finished_at")} as "finishedAt"
  from deployments d join environments e on e.id = d.environment_id join applications a on a.id = e.application_id`;

/** Adds a deployment in the status `pending`. */
export async function insertDeployment(tx: Transaction, values: DeploymentValues): Promise<void> {
  const { commit } = values;
  await tx`
    insert into deployments (
      id, environment_id, status, branch, commit_hash, commit_message, commit_author, initiator_id, settings,
      release_of)
    values (
      ${values.id}, ${values.environmentId}, 'pending', ${values.branch}, ${commit?.hash ?? null},
      ${commit?.message ?? null}, ${commit?.author ?? null}, ${values.initiatorId}, ${values.settings}::jsonb,
      ${values.releaseOf})`;
}

/** The organization's deployment with this id. */
export async function findDeployment(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<DeploymentRow | undefined> {
  const [row] = await db<DeploymentRow[]>`
    ${db.unsafe(SELECT)} where d.id = ${id} and a.organization_id = ${organizationId}`;
  return row;
}

/** The deployments among these, the newest first. */
export async function deploymentsWithIds(db: Queryable, ids: readonly string[]): Promise<DeploymentRow[]> {
  return await db<DeploymentRow[]>`
    ${db.unsafe(SELECT)} where d.id = any(${db.array([...ids], "text")}) order by d.id desc`;
}

/** Any organization's deployment, for the reconciler. */
export async function loadDeployment(db: Queryable, id: string): Promise<DeploymentRow | undefined> {
  const [row] = await db<DeploymentRow[]>`${db.unsafe(SELECT)} where d.id = ${id}`;
  return row;
}

/** The filter and the page of a list. */
interface DeploymentSearch {
  environmentId: string;
  statuses: readonly string[];
  branches: readonly string[];
  commits: readonly string[];
  page: Page;
}

/** A page of an environment's deployments, the newest first, and the number of deployments on all pages. */
export async function listDeployments(
  db: Database,
  { environmentId, statuses, branches, commits, page }: DeploymentSearch,
): Promise<{ rows: DeploymentRow[]; total: number }> {
  const matching = db`
    where d.environment_id = ${environmentId} ${among(db, "d.status", statuses)} ${among(db, "d.branch", branches)}
      ${among(db, "d.commit_hash", commits)}`;
  const [rows, counted] = await Promise.all([
    db<DeploymentRow[]>`
      ${db.unsafe(SELECT)} ${matching}
      order by d.id desc limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`select count(*)::int as total from deployments d ${matching}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** The deployment of an environment that is under way, or waits first. */
export async function openDeployment(
  db: Queryable,
  environmentId: string,
): Promise<DeploymentRow | undefined> {
  const [row] = await db<DeploymentRow[]>`
    ${db.unsafe(SELECT)} where d.environment_id = ${environmentId} and d.finished_at is null order by d.id limit 1`;
  return row;
}

/** Moves a deployment that has not ended on. @returns false when it has ended meanwhile, such as by a cancel. */
export async function writeDeploymentStatus(
  tx: Queryable,
  id: string,
  status: DeploymentStatus,
  failureReason: string | null = null,
): Promise<boolean> {
  const hasEnded = isEnd(status);
  const rows = await tx`
    update deployments
    set status = ${status}, failure_reason = ${failureReason}, started_at = coalesce(started_at, now()),
        finished_at = case when ${hasEnded} then now() end
    where id = ${id} and finished_at is null returning id`;
  await notify(tx, "status", id);
  return rows.length > 0;
}

/** Gives a deployment and its environment another branch; what the environment got meanwhile stays. */
export async function writeBranch(
  tx: Queryable,
  { id, environmentId, branch: former }: Pick<DeploymentRow, "id" | "environmentId" | "branch">,
  branch: string,
): Promise<void> {
  await tx`update environments set branch = ${branch} where id = ${environmentId} and branch = ${former}`;
  await tx`update deployments set branch = ${branch} where id = ${id}`;
}

/** Notes the commit of a deployment, which was asked for without one or is fetched now. */
export async function writeCommit(db: Queryable, id: string, commit: Commit): Promise<void> {
  await db`
    update deployments
    set commit_hash = ${commit.hash}, commit_message = ${commit.message}, commit_author = ${commit.author}
    where id = ${id}`;
  await notify(db, "status", id);
}

/** Notes the plan of a deployment. */
export async function writePlan(db: Queryable, id: string, plan: Plan): Promise<void> {
  await db`update deployments set plan = ${plan}::jsonb where id = ${id}`;
}

/** Replaces the steps of a rollout. */
export async function writeSteps(db: Queryable, id: string, steps: RolloutStep[]): Promise<void> {
  await db`update deployments set steps = ${steps}::jsonb where id = ${id}`;
  await notify(db, "status", id);
}

/** The deployments of an environment that have not ended, the oldest first. */
export async function openDeployments(db: Queryable, environmentId: string): Promise<DeploymentRow[]> {
  return await db<DeploymentRow[]>`
    ${db.unsafe(SELECT)} where d.environment_id = ${environmentId} and d.finished_at is null order by d.id`;
}

/** The latest deployment of an environment, whatever came of it. */
export async function latestDeployment(
  db: Queryable,
  environmentId: string,
): Promise<DeploymentRow | undefined> {
  const [row] = await db<DeploymentRow[]>`
    ${db.unsafe(SELECT)} where d.environment_id = ${environmentId} order by d.id desc limit 1`;
  return row;
}

/**
 * Whether a deployment of a commit began after a moment.
 * @param deployed.since a UUIDv7 of the moment: such ids sort by time.
 */
export async function wasDeployedSince(
  db: Queryable,
  environmentId: string,
  { commit, since }: { commit: string; since: string },
): Promise<boolean> {
  const rows = await db`
    select from deployments
    where environment_id = ${environmentId} and commit_hash = ${commit} and id > ${`depl-${since}`} limit 1`;
  return rows.length > 0;
}

/** The ids of all deployments of an environment that have ended. */
export async function endedDeploymentIds(db: Queryable, environmentId: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from deployments where environment_id = ${environmentId} and finished_at is not null order by id`;
  return rows.map(({ id }) => id);
}

/** The latest deployment of an environment that has ended. */
export async function latestEndedDeploymentId(
  db: Queryable,
  environmentId: string,
): Promise<string | undefined> {
  const [row] = await db<{ id: string }[]>`
    select id from deployments where environment_id = ${environmentId} and finished_at is not null
    order by id desc limit 1`;
  return row?.id;
}

/** The ids of the deployments that made the releases which served last, the latest first, each once. */
export async function servedReleases(db: Queryable, environmentId: string, limit: number): Promise<string[]> {
  const rows = await db<{ release: string }[]>`
    select coalesce(release_of, id) as release from deployments
    where environment_id = ${environmentId} and status = 'deployment.succeeded'
    group by 1 order by max(id) desc limit ${limit}`;
  return rows.map(({ release }) => release);
}

/**
 * The commits of an application that its environments may need again: of deployments that have not ended, of the latest
 * deployment, and of the releases that served last.
 */
export async function commitsInUse(
  db: Queryable,
  applicationId: string,
  releases: number,
): Promise<string[]> {
  const rows = await db<{ hash: string }[]>`
    select distinct d.hash from environments e cross join lateral (
      (select commit_hash as hash from deployments where environment_id = e.id and finished_at is null)
      union all (select commit_hash from deployments where environment_id = e.id order by id desc limit 1)
      union all (
        select max(commit_hash) from deployments
        where environment_id = e.id and status = 'deployment.succeeded'
        group by coalesce(release_of, id) order by max(id) desc limit ${releases})
    ) d where e.application_id = ${applicationId} and d.hash is not null`;
  return rows.map(({ hash }) => hash);
}

/** An environment with the hash of a commit. */
type CommitPlace = { environmentId: string; hash: string };

/** The commits among these that deployments of their environments name. */
export async function deployedCommits(db: Queryable, places: readonly CommitPlace[]): Promise<CommitPlace[]> {
  const [environments, hashes] = [places.map((each) => each.environmentId), places.map(({ hash }) => hash)];
  return await db<CommitPlace[]>`
    select distinct environment_id as "environmentId", commit_hash as hash from deployments
    where environment_id = any(${db.array([...new Set(environments)], "text")})
    and commit_hash = any(${db.array([...new Set(hashes)], "text")})`;
}

/** How many deployments of organizations that share quotas are built that began before this one. */
export async function buildsAhead(db: Queryable, familyId: string, id: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from deployments d join environments e on e.id = d.environment_id
    join applications a on a.id = e.application_id
    join organizations o on o.id = a.organization_id
    where o.family_id = ${familyId} and d.finished_at is null and d.status like 'build.%' and d.id < ${id}`;
  return row?.count ?? 0;
}

/** Whether a run is under way for a deployment of an environment. */
export async function isBeingDeployed(db: Queryable, environmentId: string): Promise<boolean> {
  const rows = await db`
    select from work where kind = ${DEPLOYMENTS} and owner is not null
      and id in (select id from deployments where environment_id = ${environmentId}) limit 1`;
  return rows.length > 0;
}

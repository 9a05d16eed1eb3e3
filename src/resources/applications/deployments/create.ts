// Begins a deployment on request: one transaction with its row, its work, the audit and the event.
import { ApiError, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { Principal } from "../../../api/auth/auth.ts";
import { newId } from "../../../lib/ids.ts";
import { SourceRefusal } from "../../../sources/faults.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { recordRequest } from "../../shared/events/record.ts";
import { findEnvironment, lockEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { DEPLOYMENTS } from "../work.ts";
import { beginDeployment } from "./begin.ts";
import type { NewDeployment } from "./schema.ts";
import { findDeployment, openDeployments, type Commit, type DeploymentRow } from "./store.ts";

/** How many deployments of an environment may wait. */
const MAX_OPEN = 20;

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/**
 * Deploys the newest commit of the environment's branch, a given commit, or an earlier release.
 * @throws ApiError 404, 409 when the environment is being deleted, or 422.
 */
export async function createDeployment(
  context: KindContext,
  request: Request<NewDeployment>,
): Promise<Made<DeploymentRow>> {
  const { principal, params, body } = request;
  const found = await findEnvironment(context.db, principal.organizationId, params.id);
  if (found === undefined) throw notFound("environment");
  const commit = body.commit_hash === undefined ? null : await namedCommit(context, found, body.commit_hash);
  const releaseOf =
    body.release_of === undefined ? null : await releaseIn(context, found, principal, body.release_of);
  return await deploy(context, request, {
    commit: releaseOf?.commit ?? commit,
    releaseOf: releaseOf?.release ?? null,
  });
}

/** Begins a deployment of an environment, once for an `Idempotency-Key`. @throws ApiError as above. */
export async function deploy(
  { db }: KindContext,
  { principal, requestId, params, idempotency }: Omit<Request<unknown>, "body">,
  order: { commit: Commit | null; releaseOf: string | null },
): Promise<Made<DeploymentRow>> {
  const { organizationId } = principal;
  return await createOnce(db, {
    organizationId,
    kind: DEPLOYMENTS,
    id: newId("depl"),
    request: idempotency,
    async create(tx) {
      const environment = await lockDeployable(tx, organizationId, params.id);
      const initiatorId = principal.kind === "session" ? principal.userId : null;
      const id = await beginDeployment(tx, { environment, initiatorId, ...order });
      const resource = { type: "deployments" as const, id, name: environment.name };
      const event = { type: "created" as const, resource };
      const details = { environment: environment.id, commit: order.commit?.hash ?? null };
      await recordRequest(tx, { principal, requestId, action: "create", kind: DEPLOYMENTS, details, event });
      const row = await findDeployment(tx, organizationId, id);
      if (row === undefined) throw new Error("an insert gave no row");
      return row;
    },
    find: (tx, id) => findDeployment(tx, organizationId, id),
  });
}

/** The environment, locked. @throws ApiError 404 or 409 */
export async function lockDeployable(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<EnvironmentRow> {
  const environment = await lockEnvironment(tx, organizationId, id);
  if (environment === undefined) throw notFound("environment");
  if (environment.status === "deleting") throw new ApiError(409, "The environment is being deleted.");
  if ((await openDeployments(tx, id)).length >= MAX_OPEN)
    throw new ApiError(409, `${MAX_OPEN} deployments of the environment wait already.`);
  return environment;
}

async function namedCommit(
  { repositories }: KindContext,
  { applicationId, branch }: EnvironmentRow,
  name: string,
): Promise<Commit> {
  const repository = await repositories.of(applicationId);
  const hash = await repository.resolve(name);
  if (hash === null || !(await isIn(repository, branch, hash)))
    throw invalid({ commit_hash: [`The branch ${branch} has no commit ${name}.`] });
  const { message, author } = await repository.facts(hash);
  return { hash, message, author: author.name };
}

async function isIn(
  repository: { contains(branch: string, hash: string): Promise<boolean> },
  branch: string,
  hash: string,
): Promise<boolean> {
  return await repository.contains(branch, hash).catch((error: unknown) => {
    if (error instanceof SourceRefusal) return false;
    throw error;
  });
}

/** The release of an earlier deployment of the same environment. @throws ApiError 422 when it has none. */
async function releaseIn(
  { db, hosts }: KindContext,
  { id, hostId }: EnvironmentRow,
  { organizationId }: Principal,
  deploymentId: string,
): Promise<{ release: string; commit: Commit | null }> {
  const former = await findDeployment(db, organizationId, deploymentId);
  if (former === undefined || former.environmentId !== id)
    throw invalid({ release_of: ["The environment has no deployment with this id."] });
  const release = former.releaseOf ?? former.id;
  if (former.plan === null || (await hosts.of(hostId).driver.release(release)) === null)
    throw invalid({ release_of: ["Its release is not kept any more. Deploy its commit again."] });
  return { release, commit: former.commit };
}

// Begins a deployment on request: one transaction with its row, its work, the audit and the event.
import { ApiError, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce, replayedOr } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { refuseRevoked, type Principal } from "../../../api/auth/auth.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { recordRequest } from "../../shared/events/record.ts";
import { findEnvironment, lockEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { namedCommit } from "../sources/commit.ts";
import { findApplication } from "../store.ts";
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
  return await replayedOr(context.db, request, findDeployment, async () => {
    const found = await findEnvironment(context.db, principal.organizationId, params.id);
    if (found === undefined) throw notFound("environment");
    const commit = body.commit_hash === undefined ? null : await commitIn(context, found, body.commit_hash);
    const releaseOf =
      body.release_of === undefined ? null : await releaseIn(context, found, principal, body.release_of);
    return await deploy(context, request, {
      commit: releaseOf?.commit ?? commit,
      releaseOf: releaseOf?.release ?? null,
    });
  });
}

/** @throws ApiError 404, or 422 when the branch has no such commit. */
async function commitIn(
  context: KindContext,
  { organizationId, applicationId, branch }: EnvironmentRow,
  name: string,
): Promise<Commit> {
  const application = await findApplication(context.db, organizationId, applicationId);
  if (application === undefined) throw notFound("environment");
  return await namedCommit(context, { application, branch }, name);
}

/** What is deployed, as `DeploymentOrder`. */
interface DeployOrder {
  commit: Commit | null;
  releaseOf: string | null;
  /** The branch that the commit is known to belong to; left out where that was looked up. */
  branch?: string;
}

/** Begins a deployment of an environment, once for an `Idempotency-Key`. @throws ApiError 401, or as above. */
export async function deploy(
  { db }: KindContext,
  {
    principal,
    requestId,
    params,
    idempotency,
  }: Pick<Request<unknown>, "principal" | "requestId" | "params" | "idempotency">,
  order: DeployOrder,
): Promise<Made<DeploymentRow>> {
  const { organizationId } = principal;
  // The key of a request that may be repeated names this id.
  const id = newId("depl");
  return await createOnce(db, {
    organizationId,
    kind: DEPLOYMENTS,
    id,
    request: idempotency,
    async create(tx) {
      const environment = await lockDeployable(tx, organizationId, params.id);
      // An upload or a push may have taken long.
      await refuseRevoked(tx, principal);
      const { commit, releaseOf, branch = environment.branch } = order;
      if (branch !== environment.branch)
        throw new ApiError(409, `The environment deploys the branch ${environment.branch} now.`);
      const initiatorId = principal.kind === "session" ? principal.userId : null;
      await beginDeployment(tx, { id, environment, initiatorId, commit, releaseOf });
      const resource = { type: "deployments" as const, id, name: environment.name };
      const event = { type: "created" as const, resource };
      const details = { environment: environment.id, commit: commit?.hash ?? null };
      await recordRequest(tx, { principal, requestId, action: "create", kind: DEPLOYMENTS, details, event });
      const row = await findDeployment(tx, organizationId, id);
      if (row === undefined) throw new Error("an insert gave no row");
      return row;
    },
    find: (tx, madeId) => findDeployment(tx, organizationId, madeId),
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
  refuseDeleting(environment, "environment");
  if ((await openDeployments(tx, id)).length >= MAX_OPEN)
    throw new ApiError(409, `${MAX_OPEN} deployments of the environment wait already.`);
  return environment;
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

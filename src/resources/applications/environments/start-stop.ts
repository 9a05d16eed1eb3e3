// Starts and stops environments.
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { refuseDeleting } from "../../shared/desired-state.ts";
import { changed, recordRequest } from "../../shared/events/record.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { deploy } from "../deployments/create.ts";
import { endDeployment } from "../deployments/end.ts";
import {
  latestDeployment,
  loadDeployment,
  openDeployments,
  type DeploymentRow,
} from "../deployments/store.ts";
import { enqueueDeployment, enqueueEnvironment, ENVIRONMENTS } from "../work.ts";
import { environmentResourceOf } from "./create.ts";
import type { EnvironmentStart } from "./schema.ts";
import { releaseOf } from "./spec.ts";
import { findEnvironment, lockEnvironment, writeEnvironmentOrder, type EnvironmentRow } from "./store.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/**
 * Deploys the newest commit or, with `redeploy`, what the latest successful deployment had: its release where that is still kept.
 * @throws ApiError 404 or 409
 */
export async function startEnvironment(
  context: KindContext,
  request: Request<EnvironmentStart>,
): Promise<Made<DeploymentRow>> {
  const { principal, params, body } = request;
  const environment = await findEnvironment(context.db, principal.organizationId, params.id);
  if (environment === undefined) throw notFound("environment");
  const latest = body.redeploy === true ? await deploymentToRepeat(context, environment) : undefined;
  if (latest === undefined) return await deploy(context, request, { commit: null, releaseOf: null });
  const release = releaseOf(latest);
  const isKept = (await context.hosts.of(environment.hostId).driver.release(release)) !== null;
  return await deploy(context, request, { commit: latest.commit, releaseOf: isKept ? release : null });
}

/** The latest deployment that succeeded, since a start must not fail for a failed push; without any, the latest of all. */
async function deploymentToRepeat(
  { db }: KindContext,
  { id, currentDeploymentId }: EnvironmentRow,
): Promise<DeploymentRow | undefined> {
  return currentDeploymentId === null
    ? await latestDeployment(db, id)
    : await loadDeployment(db, currentDeploymentId);
}

/**
 * Stops an environment, and cancels its deployments; a repeated call changes nothing.
 * @throws ApiError 404, or 409 when it is being deleted.
 */
export async function stopEnvironment(
  { db }: KindContext,
  { principal, requestId, params: { id } }: Request<unknown>,
): Promise<EnvironmentRow> {
  const { organizationId } = principal;
  return await db.begin(async (tx) => {
    const environment = await lockEnvironment(tx, organizationId, id);
    if (environment === undefined) throw notFound("environment");
    refuseDeleting(environment, "environment");
    await writeEnvironmentOrder(tx, id, "stopped");
    // Work is locked before its rows, as by the outcomes of runs.
    const open = await openDeployments(tx, id);
    for (const deployment of open) await enqueueDeployment(tx, deployment.id, environment.hostId);
    for (const deployment of open) await endDeployment(tx, deployment, { status: "cancelled" });
    await enqueueEnvironment(tx, environment);
    const event = changed(environmentResourceOf(environment), ["status"]);
    await recordRequest(tx, { principal, requestId, action: "stop", kind: ENVIRONMENTS, details: {}, event });
    return (await findEnvironment(tx, organizationId, id)) ?? environment;
  });
}

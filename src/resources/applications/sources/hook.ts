// The deploy hook: an address that begins a deployment for each client that knows it.
import { z } from "zod";
import { JSON_API, singleDocument } from "../../../api/jsonapi/jsonapi.ts";
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { RateLimiter } from "../../../api/http/rate-limit.ts";
import { openOperation, type AnyOperation } from "../../../api/operation/operation.ts";
import { sha256Hex } from "../../../lib/secrets.ts";
import type { KindContext } from "../../kind.ts";
import { beginUnasked } from "../deployments/begin-unasked.ts";
import { lockDeployable } from "../deployments/create.ts";
import { renderDeployment } from "../deployments/render.ts";
import { deploymentResource, newDeployment } from "../deployments/schema.ts";
import type { Commit, DeploymentRow } from "../deployments/store.ts";
import { environmentOfHook, type EnvironmentRow } from "../environments/store.ts";
import { loadApplication } from "../store.ts";
import { withSourceFaults } from "./faults.ts";
import { namedCommit } from "./commit.ts";

/** Deployments a minute and environment. */
const CALLS_A_MINUTE = 10;

/** The operation that a hook's address leads to. */
export function hookOperation(context: KindContext): AnyOperation {
  const limiter = new RateLimiter(CALLS_A_MINUTE);
  return openOperation({
    method: "POST",
    path: "/deploy-hooks/:secret",
    operationId: "callDeployHook",
    tag: "Deployments",
    summary: "Deploy by a hook",
    description:
      "Deploys the newest commit of the environment, or a given commit as `POST /environments/{id}/deployments` does. The address, which `meta.deploy_hook_url` of the environment has, is the only credential; turning the hook off and on again gives it a new one.",
    ability: null,
    isOpen: true,
    params: z.object({
      secret: z
        .string()
        .regex(/^[A-Za-z0-9]{1,100}$/)
        .meta({
          description: "The secret of the hook.",
          example: "q3Zr8k1Yw0sTnB5xVd7mLh2cPj9fGa4eUi6oKtRb",
        }),
    }),
    query: z.object({ commit_hash: newDeployment.shape.commit_hash }),
    canConflict: true,
    success: {
      status: 201,
      description: "The deployment, which is `pending`.",
      schema: singleDocument(deploymentResource),
      contentType: JSON_API,
    },
    async handle({ params, query }) {
      const environment = await environmentOfHook(context.db, sha256Hex(params.secret));
      if (environment === undefined) throw notFound("deploy hook");
      count(limiter, environment);
      const name = query.commit_hash;
      const commit =
        name === undefined ? null : await withSourceFaults(() => commitIn(context, environment, name));
      return { document: { data: renderDeployment(await begin(context, environment, commit)) } };
    },
  });
}

/** @throws ApiError 404, or 422 when the branch has no such commit. */
async function commitIn(
  context: KindContext,
  { applicationId, branch }: EnvironmentRow,
  name: string,
): Promise<Commit> {
  const application = await loadApplication(context.db, applicationId);
  if (application === undefined) throw notFound("deploy hook");
  return await namedCommit(context, { application, branch }, name);
}

function count(limiter: RateLimiter, { id }: EnvironmentRow): void {
  const { isExceeded, resetSeconds } = limiter.take(id);
  if (!isExceeded) return;
  throw new ApiError(429, `The hook was called more than ${CALLS_A_MINUTE} times in a minute.`, {
    headers: { "Retry-After": String(resetSeconds) },
  });
}

async function begin(
  { db }: KindContext,
  { id, organizationId }: EnvironmentRow,
  commit: Commit | null,
): Promise<DeploymentRow> {
  return await db.begin(async (tx) => beginUnasked(tx, await lockDeployable(tx, organizationId, id), commit));
}

// The operations about sources: uploads, plans, and the deploy hook.
import { z } from "zod";
import { addressOf } from "../../../api/operation/address.ts";
import { JSON_API, singleDocument } from "../../../api/jsonapi/jsonapi.ts";
import { operation, type AnyOperation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { KIND } from "../create.ts";
import { renderDeployment } from "../deployments/render.ts";
import { deploymentResource } from "../deployments/schema.ts";
import { environmentParams } from "../params.ts";
import { commitOf, fetchedCommit } from "./commit.ts";
import { fetchSource } from "./fetch.ts";
import { withSourceFaults } from "./faults.ts";
import { hookOperation } from "./hook.ts";
import { planOfCommit } from "./plan.ts";
import { renderPlan } from "./plan-render.ts";
import { planResource } from "./plan-schema.ts";
import { PLANS, SourceSlots, UPLOADS } from "./slots.ts";
import { archiveBody, deployUpload, findParts, planNewUpload, planUpload, uploadQuery } from "./upload.ts";

const TAG = "Deployments";

/** How long a reader of a plan waits for a fetch. */
const FETCH_MS = 50_000;

/** All operations about sources. */
export function sourceOperations(context: KindContext): AnyOperation[] {
  const slots = new SourceSlots(UPLOADS);
  return [
    uploadOperation(context, slots),
    planUploadOperation(context, slots),
    planNewOperation(context, slots),
    planOperation(context, new SourceSlots(PLANS)),
    hookOperation(context),
  ];
}

function uploadOperation(context: KindContext, slots: SourceSlots): Operation {
  return operation({
    method: "POST",
    path: "/environments/:id/uploads",
    operationId: "uploadSource",
    tag: TAG,
    summary: "Upload a source and deploy it",
    description:
      "The archive becomes a commit beside the environment's branch, and a deployment of that commit begins. Until the next push to the branch or the next upload, it is the newest commit of the environment. A request that is repeated with its `Idempotency-Key` is answered without its archive being read.",
    ability: `${KIND}:write`,
    params: environmentParams,
    query: uploadQuery,
    upload: archiveBody,
    isIdempotent: true,
    success: {
      status: 201,
      description: "The deployment, which is `pending`.",
      schema: singleDocument(deploymentResource),
      contentType: JSON_API,
      headers: { Location: "The deployment's address." },
    },
    async handle(request) {
      const { row, isReplayed } = await deployUpload(context, slots, request);
      const location = request.url.origin + addressOf("/deployments/:id", { id: row.id });
      return {
        document: { data: renderDeployment(row) },
        headers: { Location: location, ...(isReplayed && { "Idempotent-Replayed": "true" }) },
      };
    },
  });
}

const planAnswer = {
  status: 200 as const,
  description: "The plan, each field with its origin.",
  schema: singleDocument(planResource),
  contentType: JSON_API,
} as const;

function planUploadOperation(context: KindContext, slots: SourceSlots): Operation {
  return operation({
    method: "POST",
    path: "/environments/:id/plans",
    operationId: "planUpload",
    tag: TAG,
    summary: "Plan an uploaded source",
    description: "Answers what a deployment of the archive would do. Nothing is built, and nothing is kept.",
    ability: `${KIND}:write`,
    params: environmentParams,
    query: uploadQuery,
    upload: archiveBody,
    success: planAnswer,
    async handle(request) {
      const { hash, plan } = await planUpload(context, slots, request);
      return { document: { data: renderPlan(hash, plan) } };
    },
  });
}

function planNewOperation(context: KindContext, slots: SourceSlots): Operation {
  return operation({
    method: "POST",
    path: "/plans",
    operationId: "planNewUpload",
    tag: TAG,
    summary: "Plan an uploaded source of no application",
    description:
      "Answers what a deployment of the archive in a new application would do. Nothing is made, built or kept.",
    ability: `${KIND}:write`,
    query: uploadQuery,
    upload: archiveBody,
    success: planAnswer,
    async handle(request) {
      const { hash, plan } = await planNewUpload(context, slots, request);
      return { document: { data: renderPlan(hash, plan) } };
    },
  });
}

const planQuery = z.object({
  commit_hash: z
    .string()
    .regex(/^[0-9a-f]{7,64}$/, "is not the hash of a commit")
    .optional()
    .meta({
      description:
        "A commit of the environment's branch or an upload that is kept; the newest when left out.",
      example: "4f0c9a1",
    }),
});

function planOperation(context: KindContext, slots: SourceSlots): Operation {
  return operation({
    method: "GET",
    path: "/environments/:id/plan",
    operationId: "getPlan",
    tag: TAG,
    summary: "Get the plan of a commit",
    description: "Answers what a deployment of the commit would do with the present settings.",
    ability: `${KIND}:read`,
    params: environmentParams,
    query: planQuery,
    success: planAnswer,
    async handle({ principal, params, query, signal }) {
      const { environment, application } = await findParts(context, principal.organizationId, params.id);
      const { branch } = environment;
      const fetchOptions = { deadlineMs: FETCH_MS, signal };
      const document = await slots.run(principal.familyId, () =>
        withSourceFaults(async () => {
          const { hash } =
            query.commit_hash !== undefined
              ? await fetchedCommit(context, { application, branch }, query.commit_hash, fetchOptions)
              : application.repository === null
                ? await commitOf(context, application, environment, signal)
                : await fetchSource(context, application, branch, fetchOptions);
          const plan = await planOfCommit(context, environment, application, hash);
          return { data: renderPlan(hash, plan) };
        }),
      );
      return { document };
    },
  });
}

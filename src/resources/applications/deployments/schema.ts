// The shapes of requests for a deployment, and of a deployment and its log in an answer.
import { z } from "zod";
import { filterQuery, textFilter } from "../../../api/jsonapi/filters.ts";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import { createdAt } from "../../shared/fields.ts";

/** In the order of a deployment's life; the last five are ends. */
export const deploymentStatuses = [
  "pending",
  "build.pending",
  "build.created",
  "build.queued",
  "build.running",
  "build.succeeded",
  "deployment.pending",
  "deployment.created",
  "deployment.queued",
  "deployment.running",
  "deployment.succeeded",
  "deployment.failed",
  "build.failed",
  "failed",
  "cancelled",
] as const;

export type DeploymentStatus = (typeof deploymentStatuses)[number];

const ENDS: ReadonlySet<DeploymentStatus> = new Set([
  "deployment.succeeded",
  "deployment.failed",
  "build.failed",
  "failed",
  "cancelled",
]);

/** Whether a deployment with this status has ended. */
export function isEnd(status: DeploymentStatus): boolean {
  return ENDS.has(status);
}

/** The filters of a list of deployments. */
export const deploymentFilter = {
  ...filterQuery({ status: deploymentStatuses }),
  "filter[branch_name]": textFilter("branches", "main"),
  "filter[commit_hash]": textFilter("commits", "4f0c9a1"),
};

/** The body of `POST /environments/:id/deployments`. */
export const newDeployment = z
  .object({
    release_of: z.string().max(64).optional().meta({
      description:
        "An earlier deployment of the environment whose release is started again, without a build; `commit_hash` is then of no account.",
      example: "depl-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
    }),
    commit_hash: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/, "is not the hash of a commit")
      .optional()
      .meta({
        description:
          "A commit of the environment's branch or an upload that is kept; the newest when left out. Of a repository elsewhere it is fetched by the deployment, which fails when the branch has no such commit.",
        example: "4f0c9a1",
      }),
  })
  .meta({ id: "NewDeployment" });

export type NewDeployment = z.output<typeof newDeployment>;

const moment = z.string().nullable().meta({ example: "2026-03-15T08:18:53.000000Z" });

const attributes = z
  .object({
    status: z.enum(deploymentStatuses).meta({
      id: "DeploymentStatus",
      description:
        "`deployment.succeeded` means that the new release has answered a request through the edge. The ends are `deployment.succeeded`, `deployment.failed`, `build.failed`, `failed` and `cancelled`.",
      example: "deployment.succeeded",
    }),
    branch_name: z.string().meta({ example: "main" }),
    commit_hash: z.string().nullable().meta({
      description: "Null before the commit is known; as it was asked for before the commit is fetched.",
    }),
    commit_message: z.string().nullable().meta({ description: "Null before the commit is fetched." }),
    commit_author: z.string().nullable(),
    failure_reason: z.string().nullable().meta({
      description: "A sentence, with the last lines of the output where a command or the application ended.",
    }),
    php_major_version: z.string().nullable(),
    build_command: z.string().nullable(),
    node_version: z.string().nullable(),
    uses_server_accelerator: z.boolean(),
    uses_hibernation: z.boolean(),
    hibernation_wake_up_interval: z.int().nullable(),
    started_at: moment,
    finished_at: moment,
  })
  .meta({ id: "DeploymentAttributes" });

/** A deployment as answers show it. */
export const deploymentResource = z
  .object({
    id: z.string().meta({ example: "depl-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("deployments"),
    links: z.object({ self: z.object({ href: z.string() }) }),
    attributes,
    relationships: z.object({
      environment: z.object({ data: resourceIdentifier("environments") }),
      initiator: z.object({ data: resourceIdentifier("users").nullable() }),
    }),
    meta: z
      .object({
        release_of: z.string().nullable().meta({
          description: "The deployment whose release is started again, for a rollback; null for a build.",
        }),
        plan: z.record(z.string(), z.unknown()).nullable().meta({
          description:
            "The commands, the runtime and the way of serving, each with its origin; null before the source was read.",
        }),
        created_at: createdAt,
      })
      .meta({ id: "DeploymentMeta" }),
  })
  .meta({ id: "Deployment" });

export type DeploymentResource = z.output<typeof deploymentResource>;

const step = z
  .object({
    step: z.string().meta({ example: "build.command" }),
    status: z.enum(["pending", "running", "finished", "failed", "skipped", "cancelled"]),
    description: z.string().meta({ example: "npm run build" }),
    output: z.string().optional().meta({ description: "As the commands wrote it, with colours." }),
    time: z
      .string()
      .optional()
      .meta({ description: "Since the beginning of the deployment.", example: "00:00:35" }),
    duration_ms: z.int().min(0).optional(),
  })
  .meta({ id: "DeploymentStep" });

const phase = z.object({ available: z.boolean(), steps: z.array(step) });

/** The log of a deployment. */
export const deploymentLog = z
  .object({
    data: z.object({ build: phase, deploy: phase }),
    meta: z.object({ deployment_status: z.enum(deploymentStatuses) }),
  })
  .meta({ id: "DeploymentLog" });

export type DeploymentLog = z.output<typeof deploymentLog>;

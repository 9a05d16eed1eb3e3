// Renders a deployment.
import { API_ROOT } from "../../../api/operation/address.ts";
import type { DeploymentResource } from "./schema.ts";
import type { DeploymentRow } from "./store.ts";

/** The resource object. */
export function renderDeployment(deployment: DeploymentRow): DeploymentResource {
  const { id, commit, settings, initiatorId } = deployment;
  return {
    id,
    type: "deployments",
    links: { self: { href: `${API_ROOT}/deployments/${id}` } },
    attributes: {
      status: deployment.status,
      branch_name: deployment.branch,
      commit_hash: commit?.hash ?? null,
      commit_message: commit?.message ?? null,
      commit_author: commit?.author ?? null,
      failure_reason: deployment.failureReason,
      php_major_version: settings.php_version,
      build_command: settings.build_command,
      node_version: settings.node_version,
      uses_server_accelerator: settings.uses_server_accelerator,
      uses_hibernation: settings.uses_hibernation,
      hibernation_wake_up_interval: settings.hibernation_wake_up_interval,
      started_at: deployment.startedAt,
      finished_at: deployment.finishedAt,
    },
    relationships: {
      environment: { data: { id: deployment.environmentId, type: "environments" } },
      initiator: { data: initiatorId === null ? null : { id: initiatorId, type: "users" } },
    },
    meta: { release_of: deployment.releaseOf, plan: deployment.plan, created_at: deployment.createdAt },
  };
}

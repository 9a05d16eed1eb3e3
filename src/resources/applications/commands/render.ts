// Renders a command.
import { can, type Principal } from "../../../api/auth/auth.ts";
import { API_ROOT } from "../../../api/operation/address.ts";
import { KIND } from "../create.ts";
import type { CommandResource } from "./schema.ts";
import type { CommandRow } from "./store.ts";

/** The resource object. Its output may quote what the application knows, as the logs of the application may. */
export function renderCommand(row: CommandRow, principal: Principal): CommandResource {
  const { id, environmentId, deploymentId, initiatorId } = row;
  return {
    id,
    type: "commands",
    links: { self: { href: `${API_ROOT}/commands/${id}` } },
    attributes: {
      command: row.command,
      terminal: row.hasTerminal,
      output: can(principal, `${KIND}:credentials`) ? row.output : null,
      status: row.status,
      exit_code: row.exitCode,
      failure_reason: row.failureReason,
      started_at: row.startedAt,
      finished_at: row.finishedAt,
      created_at: row.createdAt,
    },
    relationships: {
      environment: { data: { id: environmentId, type: "environments" } },
      deployment: { data: { id: deploymentId, type: "deployments" } },
      initiator: { data: initiatorId === null ? null : { id: initiatorId, type: "users" } },
    },
    meta: { is_output_cut: row.isOutputCut },
  };
}

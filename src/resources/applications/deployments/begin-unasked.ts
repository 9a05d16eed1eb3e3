// Begins a deployment that neither a token nor a user asks for.
import type { Transaction } from "../../../store/database.ts";
import { recordEvent } from "../../shared/events/record.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import { beginDeployment } from "./begin.ts";
import { loadDeployment, type Commit, type DeploymentRow } from "./store.ts";

/**
 * Begins a deployment, of which there is no audit; the event and the deployment record it.
 * @param environment as `lockDeployable` gave it in this transaction.
 * @param commit null for the newest commit of the environment's branch.
 */
export async function beginUnasked(
  tx: Transaction,
  environment: EnvironmentRow,
  commit: Commit | null,
): Promise<DeploymentRow> {
  const id = await beginDeployment(tx, { environment, commit, initiatorId: null, releaseOf: null });
  const row = await loadDeployment(tx, id);
  if (row === undefined) throw new Error("an insert gave no row");
  await recordEvent(tx, {
    organizationId: environment.organizationId,
    type: "created",
    resource: { type: "deployments", id, name: environment.name },
    details: { environment: environment.id, commit: commit?.hash ?? null },
  });
  return row;
}

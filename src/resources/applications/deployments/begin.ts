// Begins a deployment: its row and its work, in the transaction of the request that asks for it.
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import { writeEnvironmentOrder, type EnvironmentRow } from "../environments/store.ts";
import { enqueueDeployment } from "../work.ts";
import { insertDeployment, type Commit } from "./store.ts";

/** What is to be deployed. */
export interface DeploymentOrder {
  /** The id for it, where a request has chosen one; a new id when left out. */
  id?: string;
  environment: EnvironmentRow;
  /** Null for the newest commit of the environment's branch. */
  commit: Commit | null;
  /** The user that asks; null for a token, a push or a hook. */
  initiatorId: string | null;
  /** The deployment whose release is started again; null for a deployment that builds. */
  releaseOf: string | null;
}

/** @returns the id of the deployment. A stopped environment runs again with it. */
export async function beginDeployment(
  tx: Transaction,
  { id = newId("depl"), environment, commit, initiatorId, releaseOf }: DeploymentOrder,
): Promise<string> {
  const { id: environmentId, branch, settings, hostId } = environment;
  await insertDeployment(tx, { id, environmentId, branch, commit, initiatorId, settings, releaseOf });
  await writeEnvironmentOrder(tx, environmentId, "running");
  await enqueueDeployment(tx, id, hostId);
  return id;
}

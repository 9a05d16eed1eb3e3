// Ends a deployment, and lets the next deployment of its environment begin.
import { shortenedSentence } from "../../../lib/presentable.ts";
import { storableText } from "../../../lib/storable.ts";
import type { Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import { recordEvent } from "../../shared/events/record.ts";
import { loadEnvironment } from "../environments/store.ts";
import { enqueueDeployment, enqueueEnvironment } from "../work.ts";
import type { DeploymentStatus } from "./schema.ts";
import { openDeployment, writeDeploymentStatus, type DeploymentRow } from "./store.ts";

/** An end, with a sentence for the customer where something went wrong. */
interface DeploymentEnd {
  status: Extract<
    DeploymentStatus,
    "deployment.succeeded" | "deployment.failed" | "build.failed" | "failed" | "cancelled"
  >;
  reason?: string;
}

/** The longest reason; a build's last lines are a part of it. */
const MAX_REASON_CHARACTERS = 4_000;

/** Ends a deployment, unless it has ended meanwhile. @returns whether this call ended it. */
export async function endDeployment(
  tx: Transaction,
  { id, environmentId, commit }: Pick<DeploymentRow, "id" | "environmentId" | "commit">,
  { status, reason }: DeploymentEnd,
): Promise<boolean> {
  const text = reason === undefined ? null : storableText(shortenedSentence(reason, MAX_REASON_CHARACTERS));
  const environment = await loadEnvironment(tx, environmentId);
  // Its next run removes the release, which is of no use for a rollback. Work is locked before its rows.
  if (environment !== undefined && hasFailed(status)) await enqueueDeployment(tx, id, environment.hostId);
  if (!(await writeDeploymentStatus(tx, id, status, text))) return false;
  if (environment === undefined) return true;
  // It is no longer being deployed to.
  await notify(tx, "status", environmentId);
  const next = await openDeployment(tx, environmentId);
  if (next !== undefined) await enqueueDeployment(tx, next.id, environment.hostId);
  await enqueueEnvironment(tx, environment);
  if (status === "cancelled") return true;
  await recordEvent(tx, {
    organizationId: environment.organizationId,
    type: status === "deployment.succeeded" ? "deployed" : "deployment_failed",
    resource: { type: "environments", id: environmentId, name: environment.name },
    details: { deployment: id, commit: commit?.hash ?? null, ...(text !== null && { reason: text }) },
  });
  return true;
}

/** A request that cancels a deployment queues its work as well, or removes all of its environment. */
function hasFailed(status: DeploymentEnd["status"]): boolean {
  return status !== "deployment.succeeded" && status !== "cancelled";
}

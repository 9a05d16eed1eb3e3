// The plan of a commit, from the environment's settings and the files of the commit.
import type { Plan } from "../../../contracts/plan.ts";
import { planOf } from "../../../plan/plan.ts";
import type { PlanSettings } from "../../../plan/settings.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { DEFAULT_SETTINGS, FIRST_ENVIRONMENT } from "../environments/settings.ts";
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
  const host = hosts.of(environment.hostId);
  return await planOn(repository, host, settingsOf(environment, application), hash);
}

/** The plan of a commit for a new application, whose settings leave everything to the files. @throws as `planIn`. */
export async function planOfNew(repository: Repository, { hosts }: KindContext, hash: string): Promise<Plan> {
  const environment = { name: FIRST_ENVIRONMENT, settings: DEFAULT_SETTINGS };
  return await planOn(repository, hosts.forNew(), settingsOf(environment, { rootDirectory: null }), hash);
}

async function planOn(
  repository: Repository,
  host: Pick<ServedHost, "offer">,
  settings: PlanSettings,
  hash: string,
): Promise<Plan> {
  const files = await repository.files(hash);
  return await planOf(files, settings, availableRuntimes(await host.offer()));
}

/** What the environment and its application say about the plan. */
function settingsOf(
  { name, settings }: Pick<EnvironmentRow, "name" | "settings">,
  { rootDirectory }: Pick<ApplicationRow, "rootDirectory">,
): PlanSettings {
  const { uses_hibernation: hibernates, hibernation_wake_up_interval: interval } = settings;
  return {
    rootDirectory: rootDirectory ?? "",
    sleeps: hibernates && interval === null ? { environment: name } : null,
    nodeVersion: settings.node_version,
    phpVersion: settings.php_version,
    buildCommand: settings.build_command,
    deployCommand: settings.deploy_command,
    startCommand: settings.start_command,
    healthPath: settings.health_path ?? null,
    servingMode: settings.serving_mode ?? null,
    servingRoot: settings.serving_root ?? null,
    servingFallback: settings.serving_fallback ?? null,
  };
}

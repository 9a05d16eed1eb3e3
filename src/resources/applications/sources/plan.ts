// The plan of a commit, from the environment's settings and the files of the commit.
import type { AvailableRuntimes, Plan } from "../../../contracts/plan.ts";
import { NO_SETTINGS } from "../../../plan/settings.ts";
import { planOf } from "../../../plan/plan.ts";
import type { KindContext } from "../../kind.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import type { ApplicationRow } from "../store.ts";

const AVAILABLE: AvailableRuntimes = {
  node: ["20", "22", "24"],
  bun: ["1.4.5"],
  deno: [],
  php: [],
  python: [],
};

/** @throws PublicError when the files have no plan. */
export async function planOfCommit(
  { repositories }: KindContext,
  { settings }: EnvironmentRow,
  { id, rootDirectory }: ApplicationRow,
  hash: string,
): Promise<Plan> {
  const repository = await repositories.of(id);
  const files = await repository.files(hash);
  const own = {
    ...NO_SETTINGS,
    rootDirectory: rootDirectory ?? "",
    nodeVersion: settings.node_version,
    phpVersion: settings.php_version,
    buildCommand: settings.build_command,
    deployCommand: settings.deploy_command,
    startCommand: settings.start_command,
  };
  return await planOf(files, own, AVAILABLE);
}

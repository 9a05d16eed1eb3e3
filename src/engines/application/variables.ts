// The variables that every process of an application and every command in a release has, beside its environment's own.
import { machineNetwork } from "../runtimes/machine-network.ts";
import { searchPath, type ReadyRuntime } from "../runtimes/runtimes.ts";

/** Python keeps back what it prints to a file otherwise, and loses it when it is ended: a log is such a file. */
export const PRINT_AT_ONCE = { PYTHONUNBUFFERED: "1" };

/** npm asks its registry for a newer npm otherwise, and says so in the last lines of a command that has failed. */
export const NO_UPDATE_NOTICE = { npm_config_update_notifier: "false" };

/**
 * @param app the release, as the process sees it.
 * @param folder the home and the place of temporary files; null where the sandbox has folders of its own.
 */
export function applicationVariables(
  runtime: Pick<ReadyRuntime, "path" | "ownPrograms" | "env">,
  app: string,
  folder: string | null,
): Record<string, string> {
  return {
    PATH: searchPath(runtime, app),
    HOME: folder ?? "/home/app",
    TMPDIR: folder ?? "/tmp",
    LANG: "C.UTF-8",
    NODE_ENV: "production",
    ...PRINT_AT_ONCE,
    ...NO_UPDATE_NOTICE,
    ...machineNetwork(),
    ...runtime.env,
  };
}

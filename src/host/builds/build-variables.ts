// The variables that every build has, beside those of the order.
import { machineNetwork } from "../../engines/runtimes/machine-network.ts";
import type { ReadyRuntime } from "../../engines/runtimes/runtimes.ts";

/** @param cache the folder that the builds of an environment share. @param home the home folder. */
export function buildVariables(
  { path, env }: ReadyRuntime,
  cache: string,
  home: string,
): Record<string, string> {
  return {
    PATH: path,
    HOME: home,
    LANG: "C.UTF-8",
    CI: "true",
    npm_config_cache: `${cache}/npm`,
    npm_config_update_notifier: "false",
    npm_config_fund: "false",
    npm_config_audit: "false",
    BUN_INSTALL_CACHE_DIR: `${cache}/bun`,
    // npm compiles its own code anew for each build otherwise.
    NODE_COMPILE_CACHE: `${cache}/node-compile`,
    COMPOSER_HOME: `${cache}/composer`,
    COMPOSER_ALLOW_SUPERUSER: "1",
    YARN_CACHE_FOLDER: `${cache}/yarn`,
    XDG_CACHE_HOME: `${cache}/xdg`,
    ...machineNetwork(),
    ...env,
  };
}

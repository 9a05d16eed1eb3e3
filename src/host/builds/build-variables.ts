// The variables that every build has, beside those of the order.
import { NO_UPDATE_NOTICE, PRINT_AT_ONCE } from "../../engines/application/variables.ts";
import { machineNetwork } from "../../engines/runtimes/machine-network.ts";
import { searchPath, type ReadyRuntime } from "../../engines/runtimes/runtimes.ts";

/** Where a build has its folders, as it sees them. */
export interface BuildPlaces {
  app: string;
  /** The folder that the builds of an environment share. */
  cache: string;
  home: string;
  /** The folder for temporary files; null where the sandbox has one of its own. */
  temporary: string | null;
}

export function buildVariables(
  runtime: ReadyRuntime,
  { app, cache, home, temporary }: BuildPlaces,
): Record<string, string> {
  return {
    PATH: searchPath(runtime, app),
    HOME: home,
    ...(temporary !== null && { TMPDIR: temporary }),
    LANG: "C.UTF-8",
    CI: "true",
    ...PRINT_AT_ONCE,
    ...NO_UPDATE_NOTICE,
    npm_config_cache: `${cache}/npm`,
    npm_config_fund: "false",
    npm_config_audit: "false",
    BUN_INSTALL_CACHE_DIR: `${cache}/bun`,
    // npm compiles its own code anew for each build otherwise.
    NODE_COMPILE_CACHE: `${cache}/node-compile`,
    COMPOSER_HOME: `${cache}/composer`,
    COMPOSER_ALLOW_SUPERUSER: "1",
    YARN_CACHE_FOLDER: `${cache}/yarn`,
    // Plug'n'Play leaves the packages in the cache, which no release has; it goes before what .yarnrc.yml says.
    YARN_NODE_LINKER: "node-modules",
    XDG_CACHE_HOME: `${cache}/xdg`,
    // Unlike pip, uv leaves that to the first start, and a release cannot be written.
    UV_COMPILE_BYTECODE: "1",
    // The cache is another mount than the source; uv tries links, and warns that they do not work.
    UV_LINK_MODE: "copy",
    ...machineNetwork(),
    ...runtime.env,
  };
}

// The variables that every process of an application and every command in a release has, beside its environment's own.
import { machineNetwork } from "../runtimes/machine-network.ts";
import type { ReadyRuntime } from "../runtimes/runtimes.ts";

/** @param folder the home and the place of temporary files; null where the sandbox has folders of its own. */
export function applicationVariables(
  { path, env }: Pick<ReadyRuntime, "path" | "env">,
  folder: string | null,
): Record<string, string> {
  return {
    PATH: path,
    HOME: folder ?? "/home/app",
    TMPDIR: folder ?? "/tmp",
    LANG: "C.UTF-8",
    NODE_ENV: "production",
    ...machineNetwork(),
    ...env,
  };
}

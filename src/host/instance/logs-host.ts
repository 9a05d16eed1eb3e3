// Shows the processes of applications to the logs of environments.
import type { Log } from "../../lib/log.ts";
import type { HostSettings } from "../engine/context.ts";
import { EnvironmentLogs } from "../logs/environments/environment-logs.ts";
import type { LoggedProcess } from "../logs/environments/output-reader.ts";
import { instanceFolder } from "../os/layout.ts";
import type { Instance } from "./instance.ts";

export function environmentLogsOf(
  instances: ReadonlyMap<string, Instance>,
  settings: HostSettings,
  log: Log,
  hasRoute: (id: string) => boolean,
): EnvironmentLogs {
  const processOf = (instance: Instance | undefined): LoggedProcess | undefined => {
    const spec = instance?.source.manifest?.spec;
    if (spec?.kind !== "application") return undefined;
    const { id, environment, deployment = null } = spec;
    return { id, environment, deployment, path: instanceFolder(settings.dataDir, id).log };
  };
  return new EnvironmentLogs({
    dataDir: settings.dataDir,
    ...(settings.logs !== undefined && { retention: settings.logs }),
    processes: () =>
      [...instances.values()].flatMap((instance) =>
        instance.liveProcess === null ? [] : (processOf(instance) ?? []),
      ),
    processOf: (id) => processOf(instances.get(id)),
    hasRoute,
    log,
  });
}

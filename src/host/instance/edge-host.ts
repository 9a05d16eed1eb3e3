// Shows the instances of the host to its edge.
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { WakeReason } from "../../contracts/sleep.ts";
import type { Log } from "../../lib/log.ts";
import type { EdgeHost } from "../edge/edge-host.ts";
import type { EdgeInstance } from "../edge/wake-queue.ts";
import type { HostSettings } from "../engine/context.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import { EdgeRequests } from "../logs/environments/edge-requests.ts";
import type { EnvironmentLogs } from "../logs/environments/environment-logs.ts";
import type { Measurements } from "../metrics/measurements.ts";
import type { Instance } from "./instance.ts";

/** The parts of the host that take what the edge says of requests. */
interface RequestTakers {
  environmentLogs: EnvironmentLogs;
  measurements: Pick<Measurements, "requests">;
}

export function edgeHostOf(
  instances: ReadonlyMap<string, Instance>,
  settings: HostSettings,
  log: Log,
  { environmentLogs, measurements }: RequestTakers,
): EdgeHost {
  return {
    dataDir: settings.dataDir,
    certificate: () => settings.edgeCertificate ?? null,
    find: (id) => shown(instances.get(id)),
    running: () => runnableOf(instances.get(EDGE_ID)),
    uid: () => instances.get(EDGE_ID)?.uid ?? null,
    access: new EdgeRequests(settings.dataDir, environmentLogs, measurements.requests),
    log,
  };
}

function shown(instance: Instance | undefined): EdgeInstance | null {
  if (instance === undefined) return null;
  const spec = runnableOf(instance)?.context.spec ?? servedSpecOf(instance);
  const port = spec?.exposure.port ?? 0;
  const wake = (reason: WakeReason) => {
    instance.sleep.wanted(reason);
    instance.wake();
  };
  return { state: instance.observe().state, port, answers: instance.metered.now !== null, wake };
}

/** The spec of an engine that took connections already when this host found it, and has not been asked yet. */
function servedSpecOf({ lifecycle, process, source }: Instance): InstanceSpec | undefined {
  return lifecycle.state.name === "starting" && process?.hasServed === true
    ? source.manifest?.spec
    : undefined;
}

/** The engine that takes connections; null while none does. */
function runnableOf(instance: Instance | undefined): Runnable | null {
  const isRunning = instance?.lifecycle.state.name === "running" && instance.process !== null;
  return isRunning ? instance.running : null;
}

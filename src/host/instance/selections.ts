// Selects among all instances of a host, without an observation of each: a host may be full of instances at rest.
import { observedState } from "../lifecycle/state.ts";
import type { MeasuredInstance } from "../os/storage-meter.ts";
import type { Instance } from "./instance.ts";

/** The ids of the instances that are there. */
export function presentIds(instances: Iterable<Instance>): string[] {
  return [...instances].filter(isPresent).map(({ id }) => id);
}

/** The ids of the instances to which something may happen without a client or a request. */
export function restlessIds(instances: Iterable<Instance>): string[] {
  return [...instances]
    .filter((instance) => isPresent(instance) && instance.lifecycle.state.name !== "asleep")
    .map(({ id }) => id);
}

/** The instances with an engine that runs or is being ended. */
export function withEngine(instances: Iterable<Instance>): Instance[] {
  return [...instances].filter(({ liveProcess }) => liveProcess !== null);
}

/** The instances as the meter of disk use sees them. */
export function measuredInstances(instances: Iterable<Instance>): MeasuredInstance[] {
  return [...instances].map(({ id, lifecycle: { state, since } }) => ({
    id,
    asleepSinceMs: observedState(state) === "asleep" ? since.getTime() : null,
  }));
}

function isPresent({ lifecycle: { state } }: Instance): boolean {
  return observedState(state) !== "absent";
}

/** The id of an application with this release, or of this environment; undefined without any. */
export function applicationWith(
  instances: IteratorObject<Instance>,
  wanted: { release: string } | { environment: string },
): string | undefined {
  const isWanted = ({ source }: Instance): boolean => {
    const spec = source.manifest?.spec;
    if (spec?.kind !== "application") return false;
    return "release" in wanted ? spec.release === wanted.release : spec.environment === wanted.environment;
  };
  return instances.find(isWanted)?.id;
}

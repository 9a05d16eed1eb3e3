// What the processes of applications reach on this machine, from the specs of instances: what the network lets through,
// and what wakes with them.
import type { ApplicationSpec, EdgeSpec } from "../../contracts/instance-spec.ts";
import { wokenWith } from "../../contracts/wake-reasons.ts";
import type { Edge } from "../edge/edge.ts";
import type { RunnerParts } from "../engine/runner-parts.ts";
import type { StateName } from "../lifecycle/state.ts";
import type { Grant, NetworkRules } from "../os/network-rules.ts";
import type { Instance } from "./instance.ts";

/** What the processes of applications may reach, and which ports all of them may, by the ids of the instances. */
export function networkGrants(instances: Iterable<Instance>): [Map<string, Grant>, Map<string, number[]>] {
  const [grants, open] = [new Map<string, Grant>(), new Map<string, number[]>()];
  for (const { id, uid, source } of instances) {
    const spec = source.manifest?.spec;
    if (spec === undefined) continue;
    if (spec.kind === "application" && uid !== null) grants.set(id, grantOf(spec, uid));
    if (spec.kind === "edge") open.set(id, openPortsOf(spec));
  }
  return [grants, open];
}

/** Prepares what engines begin with: the files of the edge, and the rules of the network, which stand before a process. */
export function beforeStartWith(
  edge: Pick<Edge, "beforeStart">,
  network: NetworkRules,
): NonNullable<RunnerParts["beforeStart"]> {
  return async (context) => {
    const { spec, account } = context;
    edge.beforeStart(context);
    if (spec.kind === "edge") await network.open(spec.id, openPortsOf(spec));
    if (spec.kind === "application" && account !== null)
      await network.grant(spec.id, grantOf(spec, account.uid));
    else network.starts(spec.id);
  };
}

/**
 * Wakes what an application reaches as soon as it wakes itself, so that its first request does not wait for one start
 * after the other.
 */
export function wakeReached(id: string, state: StateName, instances: ReadonlyMap<string, Instance>): void {
  if (state !== "waking") return;
  const spec = instances.get(id)?.source.manifest?.spec;
  if (spec?.kind !== "application" || spec.reaches === undefined) return;
  for (const reach of spec.reaches) {
    const reached = typeof reach === "number" ? undefined : instances.get(reach);
    if (reached?.lifecycle.state.name !== "asleep") continue;
    reached.sleep.wanted(wokenWith(spec.environment));
    reached.wake();
  }
}

/** Gives the port of an instance; null for an instance that is not there, or has none. */
export function portIn(instances: ReadonlyMap<string, Instance>): (id: string) => number | null {
  return (id) => instances.get(id)?.source.manifest?.spec.exposure.port ?? null;
}

function grantOf({ reaches = [], exposure }: ApplicationSpec, uid: number): Grant {
  return { uid, reaches, port: exposure.port };
}

/** Applications reach each other by their names, as the world does. */
function openPortsOf({ exposure, httpsPort }: EdgeSpec): number[] {
  return [exposure.port, httpsPort].filter((port) => port !== null);
}

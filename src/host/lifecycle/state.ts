// The states of an instance by name, the transitions between them, and what others see of each state.
import type { PersistedState } from "../../contracts/manifest.ts";
import type { Observation } from "../../drivers/driver.ts";

/** A wake that has begun: the instance sleeps no more, and does not serve yet. */
export interface BegunWake {
  at: Date;
  /** Whether a change of the desired state needs the engine; false when a client does. */
  isOwn: boolean;
}

/**
 * - `absent`: nothing of the instance is on the host.
 * - `unusable`: its manifest cannot be understood, so its data is left alone.
 * - `recorded`: its desired state is written down, and no engine was started yet.
 * - `starting`: an engine is being started, or is not ready yet.
 * - `running`: the engine takes connections; `isApplied` when it has the users and databases of the spec.
 * - `draining`: the gateway holds whoever comes, until nothing is under way.
 * - `suspending`: its sleep is written down, and the engine is being stopped.
 * - `handingOver`: an engine that listens by itself is being stopped, and the gateway is to have its address.
 * - `asleep`: the engine was stopped with all that it holds saved, until somebody needs it.
 * - `waking`: its sleep has ended in the manifest, and the engine has no process yet.
 * - `displaced`: it sleeps, and another program has its address.
 * - `recovering`: its sleep is written down, and a host that came later found its engine running.
 * - `crashed`: the engine ended by itself; a start is due.
 * - `failed`: the latest start failed; the next one is due.
 * - `stopped`: the engine was stopped, for a change or since the host leaves.
 * - `removing`: it is being deleted.
 */
export type State =
  | { name: "unusable"; reason: string }
  | { name: "absent" | "recorded" | "asleep" | "displaced" | "stopped" | "removing" }
  | { name: "recovering" | "waking" | "starting" | "crashed" | "failed"; wake: BegunWake | null }
  | { name: "running"; wake: BegunWake | null; isApplied: boolean }
  | { name: "draining" | "suspending" | "handingOver"; isApplied: boolean };

export type StateName = State["name"];

/** What happens to an instance, as those who work on it or watch its engine report it. */
export type Happening =
  | "foundAsleep"
  | "foundAwake"
  | "foundRemoving"
  | "foundSuspended"
  | "foundUnusable"
  | "recorded"
  | "woken"
  | "displaced"
  | "addressRegained"
  | "launching"
  | "spawned"
  | "served"
  | "kept"
  | "startFailed"
  | "exited"
  | "drainBegun"
  | "drainEnded"
  | "sleepRecorded"
  | "handOverBegun"
  | "suspended"
  | "suspendFailed"
  | "engineLost"
  | "stopped"
  | "removalBegun"
  | "removed";

/** Where each happening leads, beside a removal, which leads from everywhere to `removing`. ARCHITECTURE.md draws this table. */
export const TRANSITIONS: Record<StateName, Partial<Record<Happening, StateName>>> = {
  absent: {
    foundAsleep: "asleep",
    foundAwake: "starting",
    foundRemoving: "removing",
    foundSuspended: "recovering",
    foundUnusable: "unusable",
    recorded: "recorded",
  },
  unusable: {},
  recorded: { launching: "starting", startFailed: "failed" },
  starting: { served: "running", kept: "running", startFailed: "failed" },
  running: {
    drainBegun: "draining",
    handOverBegun: "handingOver",
    exited: "crashed",
    startFailed: "failed",
    stopped: "stopped",
  },
  draining: {
    drainEnded: "running",
    suspendFailed: "running",
    sleepRecorded: "suspending",
    exited: "crashed",
  },
  suspending: {
    suspended: "asleep",
    suspendFailed: "running",
    exited: "crashed",
    engineLost: "crashed",
  },
  handingOver: {
    suspended: "asleep",
    suspendFailed: "running",
    exited: "crashed",
    engineLost: "crashed",
  },
  asleep: { woken: "waking", displaced: "displaced", startFailed: "failed" },
  displaced: { woken: "failed", addressRegained: "asleep", startFailed: "failed" },
  waking: { spawned: "starting", startFailed: "failed" },
  recovering: {
    suspended: "asleep",
    launching: "starting",
    kept: "running",
    startFailed: "failed",
  },
  crashed: { launching: "starting", startFailed: "failed" },
  failed: { launching: "starting", kept: "running" },
  stopped: { launching: "starting", startFailed: "failed" },
  removing: { removed: "absent" },
};

/** Where a happening leads from a state; undefined leaves the state as it is. */
export function targetOf(from: StateName, happening: Happening): StateName | undefined {
  if (happening === "removalBegun") return from === "removing" ? undefined : "removing";
  return TRANSITIONS[from][happening];
}

/** What others see of each state. */
export const OBSERVED: Record<StateName, Observation["state"]> = {
  absent: "absent",
  unusable: "failed",
  recorded: "absent",
  starting: "starting",
  running: "running",
  draining: "draining",
  suspending: "draining",
  handingOver: "running",
  asleep: "asleep",
  // The gateway hears of the start of a sleeping instance when there is a process to wait for.
  waking: "asleep",
  displaced: "failed",
  recovering: "starting",
  crashed: "starting",
  failed: "failed",
  stopped: "stopped",
  removing: "removing",
};

/** What others see of a state. */
export function observedState({ name }: State): Observation["state"] {
  return OBSERVED[name];
}

/** What a host finds of an instance, by the state that an earlier host kept in the manifest, and whether the engine runs. */
export function foundAs(
  state: PersistedState,
  hasEngine: boolean,
): "foundAsleep" | "foundAwake" | "foundRemoving" | "foundSuspended" {
  switch (state) {
    case "awake":
      return "foundAwake";
    case "suspending":
    case "asleep":
      return hasEngine ? "foundSuspended" : "foundAsleep";
    case "removing":
      return "foundRemoving";
  }
}

/** Whether the manifest says that it sleeps, and nobody has woken it. */
export function isSleeping({ name }: State): boolean {
  return name === "asleep" || name === "displaced";
}

/** The wake that is under way, if one is. */
export function wakeOf(state: State): BegunWake | null {
  return "wake" in state ? state.wake : null;
}

/** Whether the running engine has the users and databases of the spec. */
export function isApplied(state: State): boolean {
  return "isApplied" in state && state.isApplied;
}

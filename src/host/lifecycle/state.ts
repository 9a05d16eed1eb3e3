// The states of an instance by name, the transitions between them, and the observed state of each.
import type { PersistedState } from "../../contracts/manifest.ts";
import type { Observation } from "../../contracts/observation.ts";

/** A wake that has begun: the instance no longer sleeps, and does not serve yet. */
interface BegunWake {
  at: Date;
  /** Whether a change of the desired state caused the wake; false when a client did. */
  isOwn: boolean;
}

/**
 * - `absent`: nothing of the instance is on the host.
 * - `unusable`: its manifest cannot be understood, so its data is left alone.
 * - `recorded`: the manifest has its desired state, and no engine has been started yet.
 * - `starting`: an engine is being started, or is not ready yet.
 * - `running`: the engine takes connections; `isApplied` when it has the users and databases of the spec.
 * - `draining`: the gateway holds new requests until nothing is under way.
 * - `suspending`: the manifest records its sleep, and the engine is being stopped.
 * - `handingOver`: an engine that listens by itself is being stopped, and the gateway gets its address.
 * - `asleep`: the engine was stopped with all its data saved, until a client or a change needs it.
 * - `waking`: the manifest records the end of its sleep, and the engine has no process yet.
 * - `displaced`: it sleeps, and another program has its address.
 * - `recovering`: the manifest records its sleep, and a later host found its engine running.
 * - `crashed`: the engine ended unexpectedly; a start is due.
 * - `failed`: the latest start failed; the next start is due.
 * - `stopped`: the engine was stopped, for a change or because the host leaves.
 * - `ended`: an earlier host was ordered to end it, so that only another order starts it.
 * - `removing`: it is being deleted.
 */
export type State =
  | { name: "unusable"; reason: string }
  | { name: "absent" | "recorded" | "asleep" | "displaced" | "stopped" | "ended" | "removing" }
  | { name: "recovering" | "waking" | "starting" | "crashed" | "failed"; wake: BegunWake | null }
  | { name: "running"; wake: BegunWake | null; isApplied: boolean }
  | { name: "draining" | "suspending" | "handingOver"; isApplied: boolean };

export type StateName = State["name"];

/** An event of an instance, as its parts and the watch on its engine report it. */
export type Happening =
  | "foundAsleep"
  | "foundAwake"
  | "foundEnded"
  | "foundRemoving"
  | "foundSuspended"
  | "foundUnusable"
  | "recorded"
  | "reordered"
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

/** The next state after each happening. A removal leads from anywhere to `removing`. ARCHITECTURE.md draws this. */
export const TRANSITIONS: Record<StateName, Partial<Record<Happening, StateName>>> = {
  absent: {
    foundAsleep: "asleep",
    foundAwake: "starting",
    foundEnded: "ended",
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
  ended: { reordered: "stopped" },
  removing: { removed: "absent" },
};

/** The next state after a happening; undefined leaves the state as it is. */
export function targetOf(from: StateName, happening: Happening): StateName | undefined {
  if (happening === "removalBegun") return from === "removing" ? undefined : "removing";
  return TRANSITIONS[from][happening];
}

/** The observed state for each state. */
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
  // The gateway learns of a wake when there is a process to wait for.
  waking: "asleep",
  displaced: "failed",
  recovering: "starting",
  crashed: "starting",
  failed: "failed",
  stopped: "stopped",
  ended: "stopped",
  removing: "removing",
};

/** The observed state for a state. */
export function observedState({ name }: State): Observation["state"] {
  return OBSERVED[name];
}

/**
 * The event for a found instance, by the state in its manifest, whether its engine runs, and whether an earlier host was
 * ordered to end it.
 */
export function foundAs(
  state: PersistedState,
  hasEngine: boolean,
  isEnded: boolean,
): "foundAsleep" | "foundAwake" | "foundEnded" | "foundRemoving" | "foundSuspended" {
  if (isEnded && state !== "removing") return "foundEnded";
  switch (state) {
    case "awake":
    case "changed":
      return "foundAwake";
    case "asleep":
    case "asleepApplied":
      return hasEngine ? "foundSuspended" : "foundAsleep";
    case "removing":
      return "foundRemoving";
  }
}

/** Whether the manifest records a sleep that has not ended. */
export function isSleeping({ name }: State): boolean {
  return name === "asleep" || name === "displaced";
}

/** The wake that is under way; null without one. */
export function wakeOf(state: State): BegunWake | null {
  return "wake" in state ? state.wake : null;
}

/** Whether the running engine has the users and databases of the spec. */
export function isApplied(state: State): boolean {
  return "isApplied" in state && state.isApplied;
}

// The steps that all kinds of instances pass, and the scenarios of a crash matrix that are made of them.
import type { Victim } from "./scenario.ts";

export const LOOP = ["loop.taken", "loop.reconciled", "loop.written"];

/** The steps of the host before there is an engine. */
export const PREPARE = [
  "host.ensure.folder",
  "host.ensure.manifest",
  "host.ensure.folders",
  "host.ensure.config",
];

/** The steps from a running engine to its first login. */
export const ENSURE = ["host.ensure.applied", "reconcile.ensured", "reconcile.logged-in"];

/** The steps of a start, from the first with an engine to the last of the loop. */
export const START = ["host.start.spawned", "host.ensure.ready", ...ENSURE, ...LOOP.slice(1)];

export const DELETE = [
  ...LOOP,
  "host.remove.marked",
  "host.remove.stopped",
  "host.remove.emptied",
  "reconcile.removed",
];

const victims: Victim[] = ["control", "host", "both", "engine"];

/**
 * All scenarios in which there is a process to kill.
 * @param places where each operation is stopped.
 * @param beforeEngine the steps of a create at which there is no engine yet.
 */
export function scenariosAt<Operation extends string>(
  places: Record<Operation, string[]>,
  beforeEngine: string[],
): [operation: Operation, place: string, victim: Victim][] {
  const hasEngine = (operation: string, place: string) => {
    if (operation === "create") return !beforeEngine.includes(place);
    return operation !== "delete" || place === "loop.taken";
  };
  return (Object.entries(places) as [Operation, string[]][]).flatMap(([operation, names]) =>
    names.flatMap((place) =>
      victims
        .filter((victim) => victim !== "engine" || hasEngine(operation, place))
        .map((victim): [Operation, string, Victim] => [operation, place, victim]),
    ),
  );
}

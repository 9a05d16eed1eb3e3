// The scenarios of the crash matrix: the step, the action, and the process that is killed there.

/** The process that is killed. */
export type Victim = "control" | "host" | "both" | "engine";

/** The action on a cache that is interrupted. */
export type Action = "create" | "delete" | "restart";

/** A step where a process can be stopped, and what exists already at that step. */
export interface Step {
  name: string;
  /** An engine of the cache runs. */
  hasEngine?: true;
  /** The engine takes connections. */
  isReachable?: true;
}

const RUNS = { hasEngine: true } as const;
const ANSWERS = { hasEngine: true, isReachable: true } as const;

/** Every boundary between two steps. */
export const steps: Record<Action, Step[]> = {
  create: [
    { name: "create.written" },
    { name: "create.committed" },
    { name: "loop.taken" },
    { name: "host.ensure.folder" },
    { name: "host.ensure.manifest" },
    { name: "host.ensure.folders" },
    { name: "host.ensure.config" },
    { name: "host.start.spawned", ...RUNS },
    { name: "host.ensure.ready", ...ANSWERS },
    { name: "reconcile.ensured", ...ANSWERS },
    { name: "reconcile.logged-in", ...ANSWERS },
    { name: "loop.reconciled", ...ANSWERS },
    { name: "loop.written", ...ANSWERS },
  ],
  delete: [
    { name: "delete.written", ...ANSWERS },
    { name: "delete.committed", ...RUNS },
    { name: "loop.taken", ...RUNS },
    { name: "host.remove.marked" },
    { name: "host.remove.stopped" },
    { name: "host.remove.emptied" },
    { name: "host.remove.forgotten" },
    { name: "reconcile.removed" },
    { name: "loop.reconciled" },
    { name: "loop.written" },
  ],
  restart: [
    { name: "host.start.due" },
    { name: "host.start.spawned", ...RUNS },
    { name: "host.ensure.ready", ...ANSWERS },
    { name: "loop.taken" },
    { name: "loop.written" },
  ],
};

/** A row of the matrix: the step, the victim, and what exists at the step. */
export type CacheScenario = [step: string, victim: Victim, at: Step];

/** Every step with each of its victims. */
export function scenariosOf(action: Action): CacheScenario[] {
  return steps[action].flatMap((step) =>
    victimsAt(step).map((victim): CacheScenario => [step.name, victim, step]),
  );
}

/** Every sixth step once, with its victims in turn. */
export function sampleOf(action: Action): CacheScenario[] {
  const sample = steps[action].filter((_, index) => index % 6 === 0);
  return sample.flatMap((step, index) => {
    const victims = victimsAt(step);
    const victim = victims[index % victims.length];
    return victim === undefined ? [] : [[step.name, victim, step] satisfies CacheScenario];
  });
}

function victimsAt(step: Step): Victim[] {
  return (["control", "host", "both", "engine"] as const).filter(
    (victim) => victim !== "engine" || step.hasEngine,
  );
}

/** Collects the duration of every scenario that succeeded, for the table at the end. */
export class Table {
  readonly #scenarios = new Map<string, number>();

  passed(action: Action, step: string, victim: Victim, ms: number): void {
    this.#scenarios.set([action, step, victim].join(), ms);
  }

  toString(): string {
    const victims: Victim[] = ["control", "host", "both", "engine"];
    const lines = [row(["action", "step", ...victims])];
    for (const [action, list] of Object.entries(steps)) {
      for (const step of list) {
        const scenarios = victims.map((victim) => {
          if (victim === "engine" && !step.hasEngine) return "";
          const ms = this.#scenarios.get([action, step.name, victim].join());
          return ms === undefined ? "-" : `ok ${Math.round(ms)} ms`;
        });
        lines.push(row([action, step.name, ...scenarios]));
      }
    }
    return lines.join("\n");
  }
}

function row([action = "", step = "", ...scenarios]: string[]): string {
  return [action.padEnd(8), step.padEnd(25), ...scenarios.map((scenario) => scenario.padEnd(12))]
    .join("")
    .trimEnd();
}

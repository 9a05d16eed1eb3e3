// Runs the lifecycle of one instance: applies every event, publishes transitions, and passes effects on.
import type { Log } from "../../lib/log.ts";
import { newLifecycle, next, type Effect, type LifecycleEvent } from "./lifecycle.ts";
import type { Report } from "./reports.ts";
import { observedState, targetOf, type Happening, type State, type StateName } from "./state.ts";

/** A transition of an instance from one state to another. */
export interface Transition {
  from: StateName;
  to: StateName;
  event: LifecycleEvent["type"];
  at: Date;
}

/** The effects that the machine carries out itself. */
type OwnEffect = Extract<Effect, { do: "setTimer" | "clearTimer" }>;

/** The effects that the instance carries out. Its `perform` must not dispatch events before it returns. */
export type InstanceEffect = Exclude<Effect, OwnEffect>;

interface MachineParts {
  log: Log;
  perform(effect: InstanceEffect): void;
  onTransition(transition: Transition): void;
  /** Called when the observed state has changed. */
  onSeen(): void;
}

/** The lifecycle as the parts of an instance see it. */
export type InstanceLifecycle = Pick<Machine, "state" | "since" | "isLeaving" | "report" | "leads">;

export class Machine {
  readonly #parts: MachineParts;
  #lifecycle = newLifecycle(new Date());
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: MachineParts) {
    this.#parts = parts;
  }

  get state(): State {
    return this.#lifecycle.state;
  }

  /** The time of the latest change of the observed state. */
  get since(): Date {
    return this.#lifecycle.since;
  }

  /** Whether the engine is to be stopped or let go for good. */
  get isLeaving(): boolean {
    return this.#lifecycle.isLeaving;
  }

  /** Whether a happening would lead to another state now. */
  leads(happening: Happening): boolean {
    return targetOf(this.state.name, happening) !== undefined && !this.isLeaving;
  }

  /** Applies an event that happened to the instance. */
  report(report: Report): void {
    this.dispatch(report);
  }

  dispatch(event: LifecycleEvent): void {
    const { state } = this.#lifecycle;
    const now = { ms: performance.now(), date: new Date(), chance: Math.random() };
    const { lifecycle, effects } = next(this.#lifecycle, event, now);
    this.#lifecycle = lifecycle;
    const { name: to } = lifecycle.state;
    if (to !== state.name) {
      const transition = { from: state.name, to, event: event.type, at: now.date };
      this.#parts.log.debug(transition, "transition");
      this.#parts.onTransition(transition);
    }
    if (observedState(lifecycle.state) !== observedState(state)) this.#parts.onSeen();
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    if (effect.do !== "setTimer" && effect.do !== "clearTimer") return this.#parts.perform(effect);
    clearTimeout(this.#timer);
    if (effect.do === "setTimer")
      this.#timer = setTimeout(() => this.dispatch({ type: "due" }), effect.delayMs);
  }
}

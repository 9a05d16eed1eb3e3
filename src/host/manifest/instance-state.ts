// The visible condition of an instance: its state and the notices to its owner. Every change is published.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Sleep } from "../../contracts/sleep.ts";
import type { EngineContext } from "../../engines/engine.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { verdictOn } from "../../engines/safety/verdict.ts";
import { presentableSentence } from "../../lib/presentable.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { observedState } from "../lifecycle/state.ts";

/** The engine and the context of an instance; null until an engine is chosen. */
interface Engines {
  runnable: { context: EngineContext<InstanceSpec> } | null;
  /** The engine that runs, or will run. */
  installed: InstalledEngine | null;
}

/**
 * A notice to the owner of an instance that serves: about users left out, users set again, databases that failed, the
 * log of its backups, or a use that the host cannot measure.
 */
export type Notice = "left-out" | "users" | "databases" | "backups" | "idle-probe";

/** The states that an observation can have. */
export type State = Observation["state"];

export class Condition {
  #lastError: string | null = null;
  /** The public sentence about excessive memory use since the start. It is shown unless there is an error. */
  overuse: string | null = null;
  /** The number of times the engine ended unexpectedly. */
  crashes = 0;
  readonly #lifecycle: Pick<InstanceLifecycle, "state" | "since">;
  readonly #onChange: () => void;
  readonly #notices = new Map<Notice, string>();

  constructor(lifecycle: Pick<InstanceLifecycle, "state" | "since">, onChange: () => void) {
    this.#lifecycle = lifecycle;
    this.#onChange = onChange;
  }

  /** The public reason why the last start failed. */
  get lastError(): string | null {
    return this.#lastError;
  }

  set lastError(reason: string | null) {
    // The reason may quote an engine, and so a customer's text.
    this.#lastError = reason === null ? null : presentableSentence(reason);
  }

  get state(): State {
    return observedState(this.#lifecycle.state);
  }

  /** When the state was reached. */
  get since(): Date {
    return this.#lifecycle.since;
  }

  /** The observation of the instance. */
  observe(id: string, { runnable, installed }: Engines, sleep: Sleep | null): Observation {
    const place = runnable?.context.application;
    return {
      id,
      state: this.state,
      since: this.since.toISOString(),
      engine: installed && observed(installed),
      limits: runnable?.context.limits ?? null,
      lastError: this.lastError ?? this.overuse ?? this.#notice,
      crashes: this.crashes,
      ...(place !== undefined && { isolation: place.sandbox.level }),
      sleep,
    };
  }

  /** Publishes a change other than a change of state. */
  changed(): void {
    this.#onChange();
  }

  /** The kernel killed a process of the instance for lack of memory. @param sentence the public sentence about it. */
  exceed(sentence: string): void {
    this.overuse = sentence;
    this.#onChange();
  }

  /** Sets a notice to the owner, or withdraws it with null. Observations show it as lastError if there is no error. */
  notice(about: Notice, sentence: string | null): void {
    if ((this.#notices.get(about) ?? null) === sentence) return;
    if (sentence === null) this.#notices.delete(about);
    else this.#notices.set(about, sentence);
    this.#onChange();
  }

  get #notice(): string | null {
    return this.#notices.size === 0 ? null : [...this.#notices.values()].join(" ");
  }
}

function observed(installed: InstalledEngine): Observation["engine"] {
  const { name, version } = installed;
  return { name, version, warning: verdictOn(installed).warning };
}

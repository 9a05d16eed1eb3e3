// What others see of an instance: its state and what its owner is told; every change is passed on.
import type { InstanceSpec, Observation, Sleep } from "../../drivers/driver.ts";
import type { EngineContext } from "../../engines/engine.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { verdictOn } from "../../engines/safety/verdict.ts";
import { presentableSentence } from "../../lib/presentable.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { observedState } from "../lifecycle/state.ts";

/** What an instance is run with; null as long as no engine was chosen. */
interface Engines {
  runnable: { context: EngineContext<InstanceSpec> } | null;
  /** The engine that runs, or is to. */
  installed: InstalledEngine | null;
}

/** What the owner is told of an instance that serves all the same: who is left out, what became of its users, or of its databases. */
export type Notice = "left-out" | "users" | "databases";

/** The states that an instance can be seen in. */
export type State = Observation["state"];

export class Condition {
  #lastError: string | null = null;
  /** That it took more memory than it may since its start, for anyone to read. It is told while nothing is worse. */
  overuse: string | null = null;
  /** How often the engine ended without having been asked to. */
  crashes = 0;
  readonly #lifecycle: Pick<InstanceLifecycle, "state" | "since">;
  readonly #onChange: () => void;
  readonly #notices = new Map<Notice, string>();

  constructor(lifecycle: Pick<InstanceLifecycle, "state" | "since">, onChange: () => void) {
    this.#lifecycle = lifecycle;
    this.#onChange = onChange;
  }

  /** Why the last start failed, for anyone to read. */
  get lastError(): string | null {
    return this.#lastError;
  }

  set lastError(reason: string | null) {
    // It may quote an engine, and so what a customer has written.
    this.#lastError = reason === null ? null : presentableSentence(reason);
  }

  get state(): State {
    return observedState(this.#lifecycle.state);
  }

  /** When the state was reached. */
  get since(): Date {
    return this.#lifecycle.since;
  }

  /** What can be seen of the instance. */
  observe(id: string, { runnable, installed }: Engines, sleep: Sleep | null): Observation {
    return {
      id,
      state: this.state,
      since: this.since.toISOString(),
      engine: installed && observed(installed),
      limits: runnable?.context.limits ?? null,
      lastError: this.lastError ?? this.overuse ?? this.#notice,
      crashes: this.crashes,
      sleep,
    };
  }

  /** Something that can be seen of it is another, though not its state. */
  changed(): void {
    this.#onChange();
  }

  /** The kernel ended a process of it for want of memory. @param sentence says so, for anyone to read. */
  exceed(sentence: string): void {
    this.overuse = sentence;
    this.#onChange();
  }

  /** Tells the owner something of an instance that serves all the same, until that is taken back with null: it is seen as the last error while there is no other. */
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

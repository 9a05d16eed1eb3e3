// How an instance is at present; whoever listens is told whenever that changes.
import type { InstanceSpec, Observation, Sleep } from "../../drivers/driver.ts";
import type { EngineContext } from "../../engines/engine.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { verdictOn } from "../../engines/safety/verdict.ts";
import { presentableSentence } from "../../lib/presentable.ts";

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
  #state: State = "absent";
  #since = new Date();
  readonly #onChange: () => void;
  readonly #notices = new Map<Notice, string>();

  constructor(onChange: () => void) {
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
    return this.#state;
  }

  /** When the state was reached. */
  get since(): Date {
    return this.#since;
  }

  /** What can be seen of the instance. */
  observe(id: string, { runnable, installed }: Engines, sleep: Sleep | null): Observation {
    return {
      id,
      state: this.#state,
      since: this.#since.toISOString(),
      engine: installed && observed(installed),
      limits: runnable?.context.limits ?? null,
      lastError: this.lastError ?? this.overuse ?? this.#notice,
      crashes: this.crashes,
      sleep,
    };
  }

  /** Enters a state; being in it already changes nothing. */
  become(state: State): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#since = new Date();
    this.#onChange();
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

  /** What runs goes on, although it was to be another. @param reason why, for anyone to read. */
  keepRunning(reason: string): void {
    this.lastError = reason;
    if (this.#state === "running") this.#onChange();
    else this.become("running");
  }

  /** What sleeps goes on sleeping, whatever was in its way. */
  sleepOn(): void {
    if (this.#state === "asleep") return;
    this.lastError = null;
    this.become("asleep");
  }

  /** Enters the state of what could not be started. @param reason why, for anyone to read. */
  fail(reason: string): void {
    this.lastError = reason;
    this.become("failed");
  }
}

function observed(installed: InstalledEngine): Observation["engine"] {
  const { name, version } = installed;
  return { name, version, warning: verdictOn(installed).warning };
}

// A world around the pure lifecycle of an instance: its effects take time, fail, and end with the host that carries
// them out.
import {
  newLifecycle,
  next,
  type Effect,
  type LifecycleEvent,
  type Ticket,
} from "../../../src/host/lifecycle/lifecycle.ts";
import {
  foundAs,
  isApplied,
  isSleeping,
  type State,
  type StateName,
} from "../../../src/host/lifecycle/state.ts";
import { saysAsleep } from "../../../src/host/manifest/manifest.ts";
import { randomOf, type Random } from "./clock.ts";
import {
  LifecycleWork,
  type ModelEngine,
  type ModelManifest,
  type Work,
  type WorkWorld,
} from "./lifecycle-work.ts";

export class LifecycleWorld implements WorkWorld {
  readonly random: Random;
  /** Whether no step fails any more. */
  isLucky = false;
  manifest: ModelManifest | null = null;
  isEnded = false;
  engine: ModelEngine | null = null;
  /** Whether the engine ended with all of its data saved. */
  isSaved = true;
  /** The requests of the waiting callers, by their tickets. */
  readonly waiting = new Map<Ticket, { demand: string; spec: number }>();
  /** Transitions that occurred, as `from event to`. */
  readonly seen = new Set<string>();
  readonly trace: string[] = [];
  readonly #workers = new LifecycleWork(this);
  #lifecycle = newLifecycle(new Date(0));
  #work: { demand: string; steps: Work } | null = null;
  /** The engine that is being stopped, so that its end is no crash. */
  ending: ModelEngine | null = null;
  isInterrupted = false;
  #timerAtMs: number | null = null;
  nowMs = 0;
  #tickets = 0;
  #spec = 0;

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  get name(): StateName {
    return this.#lifecycle.state.name;
  }

  get state(): State {
    return this.#lifecycle.state;
  }

  get isLeaving(): boolean {
    return this.#lifecycle.isLeaving;
  }

  get isBusy(): boolean {
    return this.#work !== null;
  }

  /** A random event happens. */
  step(): void {
    const choice = this.random(100);
    if (choice < 8) this.ask("wake");
    else if (choice < 14) this.ask("idle");
    else if (choice < 20) this.ask("suspend");
    else if (choice < 26) this.ask("ensure", this.random(2) === 0 ? ++this.#spec : this.#spec);
    else if (choice < 29) this.engineEnds();
    // A host that is killed while the engine ends leaves most work to the next host.
    else if (choice < 33 || (choice < 60 && this.name === "suspending")) this.replaceHost();
    else if (choice < 34) this.ask("close");
    else if (choice < 35) this.ask("end");
    else if (choice < 36) this.ask("remove");
    else if (choice < 37) this.dispatch({ type: "released" });
    else if (choice < 44) this.#pass(this.random(4_000));
    else this.goOn();
  }

  ask(demand: "ensure" | "wake" | "idle" | "suspend" | "remove" | "close" | "end", spec = this.#spec): void {
    if (demand === "wake" || demand === "idle") return this.dispatch({ type: "asked", demand });
    const ticket = ++this.#tickets;
    this.waiting.set(ticket, { demand, spec });
    this.dispatch({ type: "asked", demand, ticket });
  }

  /** The work under way comes to its next wait, or the timer to its end. */
  goOn(): void {
    if (this.#work !== null) this.#resume();
    else if (this.#timerAtMs !== null) this.#pass(this.#timerAtMs - this.nowMs);
  }

  /** All work that is under way or due comes to its end. */
  settle(): void {
    for (let rounds = 0; this.#work !== null || this.#timerAtMs !== null; rounds++) {
      if (rounds > 1_000) this.fault("it does not come to rest");
      this.goOn();
    }
  }

  /** The host is killed; another host takes over its state. */
  replaceHost(): void {
    this.#note("another host");
    this.waiting.clear();
    this.#work = null;
    this.#timerAtMs = null;
    this.ending = null;
    this.#lifecycle = newLifecycle(new Date(this.nowMs));
    if (this.manifest === null) return;
    const { state } = this.manifest;
    this.dispatch({ type: foundAs(state, this.engine !== null, this.isEnded) });
    if (state === "removing") this.ask("remove");
    else this.dispatch({ type: "asked", demand: "resume" });
  }

  /** @throws when the instance may not be in this state now. */
  check(): void {
    const { state, task, queue, isLeaving, backOff } = this.#lifecycle;
    const { name } = state;
    if ((task === null) !== (this.#work === null))
      this.fault("a task is under way with nobody at work, or the other way");
    if (task === null && queue.length > 0) this.fault("a task waits for nothing");
    if (isSleeping(state) && this.engine !== null) this.fault("it is said to sleep and runs");
    if ((name === "running" || name === "draining") && isApplied(state) && !isLeaving && this.engine === null)
      this.fault("it is said to run and does not");
    const isSuspending = task?.demand === "suspend" || task?.demand === "idle";
    if (["draining", "suspending", "handingOver"].includes(name) && !isSuspending && !isLeaving)
      this.fault("clients are held for nothing");
    const isDue = backOff.dueAtMs !== null && this.#timerAtMs !== null;
    if (["crashed", "failed", "displaced"].includes(name) && task === null && !isDue && !isLeaving)
      this.fault("nobody starts it again");
    if (
      ["recovering", "waking", "starting", "recorded"].includes(name) &&
      task === null &&
      !isDue &&
      !isLeaving
    )
      this.fault(`${name} with nobody at it`);
    if (name === "ended" && task === null && this.engine !== null) this.fault("nobody ends it");
    const waiting = [task, ...queue].flatMap((each) => each?.tickets ?? []).length;
    if (waiting !== this.waiting.size) this.fault("somebody who waits is forgotten");
  }

  dispatch(event: LifecycleEvent): void {
    const from = this.name;
    const chance = this.random(1_000) / 1_000;
    const now = { ms: this.nowMs, date: new Date(this.nowMs), chance };
    const { lifecycle, effects } = next(this.#lifecycle, event, now);
    this.#lifecycle = lifecycle;
    if (this.name !== from) this.seen.add(`${from} ${event.type} ${this.name}`);
    this.#note(`${event.type}${"demand" in event ? ` ${event.demand}` : ""}: ${this.name}`);
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.do) {
      case "record":
        return this.#begin(effect.do, this.#workers.record(effect.ticket));
      case "recover":
        return this.#begin(effect.do, this.#workers.recover());
      case "start":
        return this.#begin(effect.do, this.#workers.start(effect.delayMs, effect.askedAtMs !== null));
      case "conclude":
        return this.#begin(effect.do, this.#workers.conclude());
      case "suspend":
        return this.#begin(effect.do, this.#workers.suspend(effect.isIdle));
      case "stop":
        return this.#begin(effect.do, this.#workers.stop(effect.isFinal));
      case "remove":
        return this.#begin(effect.do, this.#workers.remove());
      case "answer":
        return this.#answer(effect.tickets, effect.error === undefined);
      case "refuse":
        return this.#answer(effect.tickets, false);
      case "setTimer":
        this.#timerAtMs = this.nowMs + effect.delayMs;
        return;
      case "clearTimer":
        this.#timerAtMs = null;
        return;
      case "interrupt":
        this.isInterrupted = true;
        return;
      case "kill":
        return this.engineEnds();
      case "leave":
        return;
    }
  }

  #begin(demand: string, steps: Work): void {
    if (this.#work !== null) this.fault(`${demand} begins while ${this.#work.demand} is under way`);
    this.#work = { demand, steps };
  }

  #resume(): void {
    const work = this.#work;
    if (work === null) return;
    this.nowMs += this.random(40);
    const { done } = work.steps.next();
    if (done === true && this.#work === work) this.fault(`${work.demand} ended and did not say so`);
  }

  /** The work ends with this call; the next steps may begin other work. */
  end(event: LifecycleEvent): void {
    this.#work = null;
    this.dispatch(event);
  }

  #answer(tickets: readonly Ticket[], isFine: boolean): void {
    for (const ticket of tickets) {
      const caller = this.waiting.get(ticket);
      if (caller === undefined) this.fault("somebody is answered twice");
      this.waiting.delete(ticket);
      if (isFine && caller !== undefined) this.#checkAnswer(caller);
    }
  }

  #checkAnswer({ demand, spec }: { demand: string; spec: number }): void {
    const { manifest, engine } = this;
    const isAsleep = engine === null && saysAsleep(manifest);
    if (demand === "suspend" && !(isAsleep && this.isSaved))
      this.fault("a sleep that lost something was reported");
    if ((demand === "close" || demand === "end") && engine !== null)
      this.fault("a stop did not end the engine");
    if (demand === "remove" && (engine !== null || manifest !== null)) this.fault("something was left of it");
    if (demand === "ensure" && manifest?.spec !== spec) this.fault("an ensure was lost");
    if (demand === "ensure" && isApplied(this.#lifecycle.state) && engine !== null && engine.spec !== spec)
      this.fault("it runs with another spec than the desired one");
  }

  /** It crashes, or is killed. */
  engineEnds(): void {
    const { engine } = this;
    if (engine === null) return;
    this.engine = null;
    // A crash loses unsaved data; from here on no sleep can lose any.
    this.isSaved = true;
    const isAwaited = this.ending === engine;
    this.ending = null;
    if (!isAwaited) this.dispatch({ type: "exited" });
  }

  #pass(ms: number): void {
    this.nowMs += ms;
    if (this.#timerAtMs === null || this.#timerAtMs > this.nowMs) return;
    this.#timerAtMs = null;
    this.dispatch({ type: "due" });
  }

  fails(percent: number): boolean {
    return !this.isLucky && this.random(100) < percent;
  }

  #note(event: string): void {
    this.trace.push(event);
  }

  fault(sentence: string): never {
    throw new Error(`${sentence}\n${this.trace.slice(-60).join("\n")}`);
  }
}

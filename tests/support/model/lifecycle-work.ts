// Carries out the effects of a lifecycle in its model: work that takes time, may fail, and ends with its host.
import type { PersistedState } from "../../../src/contracts/manifest.ts";
import type { LifecycleEvent, Ticket } from "../../../src/host/lifecycle/lifecycle.ts";
import { isApplied, isSleeping, type State, type StateName } from "../../../src/host/lifecycle/state.ts";
import { saysAsleep } from "../../../src/host/manifest/manifest.ts";
import type { Random } from "./clock.ts";

/** State that outlives a host. */
export interface ModelManifest {
  spec: number;
  state: PersistedState;
}

/** An engine, which outlives a host as well. */
export interface ModelEngine {
  spec: number;
  isReady: boolean;
}

/** A piece of work; each `yield` is a wait, in which any event may happen. */
export type Work = Generator<void, void>;

/** The objects that the work acts on. */
export interface WorkWorld {
  readonly random: Random;
  readonly name: StateName;
  readonly state: State;
  readonly isLeaving: boolean;
  readonly waiting: Map<Ticket, { demand: string; spec: number }>;
  manifest: ModelManifest | null;
  /** Whether it was ordered to end, and not to run since; outlives a host. */
  isEnded: boolean;
  engine: ModelEngine | null;
  /** The engine that is being stopped, so that its end is no crash. */
  ending: ModelEngine | null;
  isInterrupted: boolean;
  isSaved: boolean;
  nowMs: number;
  dispatch(event: LifecycleEvent): void;
  /** The work ends with this call; the next steps may begin other work. */
  end(event: LifecycleEvent): void;
  engineEnds(): void;
  fails(percent: number): boolean;
  fault(sentence: string): never;
}

class Failure extends Error {}

export class LifecycleWork {
  readonly #world: WorkWorld;

  constructor(world: WorkWorld) {
    this.#world = world;
  }

  *record(ticket: Ticket): Work {
    const world = this.#world;
    yield;
    const spec = world.waiting.get(ticket)?.spec ?? world.fault("nobody asks");
    if (world.fails(5)) return world.end({ type: "recordEnded", error: new Failure() });
    if (world.isEnded) world.dispatch({ type: "reordered" });
    world.isEnded = false;
    if (world.manifest?.spec !== spec) {
      const wasAsleep = saysAsleep(world.manifest);
      const isAsleep = wasAsleep && world.random(2) === 0;
      const awake = world.manifest === null ? "awake" : "changed";
      world.manifest = { spec, state: isAsleep ? "asleep" : awake };
      if (wasAsleep && !isAsleep) world.dispatch({ type: "woken", isOwn: true });
      world.dispatch({ type: "recorded" });
    }
    yield;
    world.end({ type: "recordEnded" });
  }

  *conclude(): Work {
    const world = this.#world;
    yield;
    const isBehind = world.name === "running" && !isApplied(world.state);
    world.end({ type: "taskEnded", ...(isBehind && { error: new Failure() }) });
  }

  *recover(): Work {
    const world = this.#world;
    yield;
    let isSuspendDue = false;
    const isFound = world.engine !== null && world.name === "recovering";
    if (world.name === "recovering" && world.engine === null) world.dispatch({ type: "suspended" });
    else if (isFound && world.random(2) === 0) {
      this.#endCleanly();
      world.dispatch({ type: "suspended" });
    } else if (isFound && !world.fails(10) && world.manifest !== null) {
      world.manifest.state = "changed";
      isSuspendDue = true;
    }
    yield;
    world.end({ type: "recoveryEnded", isSuspendDue });
  }

  *start(delayMs: number, isWake: boolean): Work {
    const world = this.#world;
    world.nowMs += delayMs;
    yield;
    try {
      yield* this.startEngine(isWake);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const isKept = error.message === "kept" && world.engine !== null;
      const isDisplaced = error.message === "displaced" && isSleeping(world.state);
      world.dispatch({ type: isKept ? "kept" : isDisplaced ? "displaced" : "startFailed" });
    }
    world.end({ type: "startEnded" });
  }

  *startEngine(isWake: boolean): Work {
    const world = this.#world;
    if (world.manifest === null || world.isLeaving) return;
    if (world.fails(10)) throw new Failure("displaced");
    if (isSleeping(world.state) && !isWake) return world.dispatch({ type: "addressRegained" });
    if (world.engine !== null && isApplied(world.state)) return;
    if (saysAsleep(world.manifest)) {
      if (world.fails(5)) throw new Failure();
      world.manifest.state = world.engine === null ? "awake" : "changed";
      world.dispatch({ type: "woken", isOwn: false });
    }
    yield;
    if (world.manifest.state === "changed") {
      if (world.engine !== null && world.engine.spec !== world.manifest.spec) {
        if (world.fails(30)) throw new Failure("kept");
        this.#endCleanly();
        world.dispatch({ type: "stopped" });
      }
      if (world.fails(5)) throw new Failure();
      world.manifest.state = "awake";
    }
    yield* world.engine === null ? this.spawn() : this.await();
    const { engine } = world;
    yield;
    if (world.fails(5)) throw new Failure(world.random(2) === 0 ? "kept" : "");
    if (engine === null || world.engine !== engine) throw new Failure();
    world.dispatch({ type: "served", isApplied: true });
  }

  *spawn(): Work {
    const world = this.#world;
    world.dispatch({ type: "launching" });
    yield;
    if (world.fails(5)) throw new Failure();
    if (world.engine !== null) world.fault("two engines in one folder");
    if (world.manifest === null || world.manifest.state === "removing" || world.isEnded)
      world.fault("an engine is started for nothing");
    const engine: ModelEngine = (world.engine = { spec: world.manifest?.spec ?? 0, isReady: false });
    world.isSaved = false;
    world.dispatch({ type: "spawned" });
    yield;
    if (world.fails(20)) world.engineEnds();
    if (world.engine !== engine || world.isLeaving) throw new Failure();
    engine.isReady = true;
  }

  *await(): Work {
    const world = this.#world;
    if (world.name !== "running") world.dispatch({ type: "launching" });
    yield;
    if (world.engine === null) throw new Failure();
    world.engine.isReady = true;
  }

  *suspend(isIdle: boolean): Work {
    const world = this.#world;
    const { engine } = world;
    const former = world.manifest?.state;
    // A directly exposed engine is handed over to the gateway, which holds no clients yet.
    const isHandOver = world.random(10) === 0;
    world.isInterrupted = false;
    const assertGoesOn = (mayYield: boolean) => {
      const isUnwanted = (mayYield || world.isLeaving) && world.isInterrupted;
      if (isUnwanted || world.engine !== engine || world.fails(10)) throw new Failure();
    };
    try {
      yield;
      assertGoesOn(true);
      if (!isHandOver) yield* this.drain(assertGoesOn);
      world.dispatch({ type: isHandOver ? "handOverBegun" : "sleepRecorded" });
      yield;
      assertGoesOn(isIdle);
      world.ending = engine;
      yield;
      this.#endCleanly();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (world.manifest !== null && !world.fails(5) && former !== undefined) world.manifest.state = former;
      const isUp = engine !== null && world.engine === engine;
      if (isUp) world.dispatch({ type: "suspendFailed" });
      return world.end({ type: "taskEnded", error });
    }
    yield;
    if (world.fails(3)) {
      world.dispatch({ type: "engineLost" });
      return world.end({ type: "taskEnded", error: new Failure() });
    }
    // The disk may be full by now; a hand-over has learned that before.
    if (world.manifest !== null && (isHandOver || !world.fails(10))) world.manifest.state = "asleepApplied";
    world.dispatch({ type: "suspended" });
    world.end({ type: "taskEnded" });
  }

  *drain(assertGoesOn: (mayYield: boolean) => void): Work {
    const world = this.#world;
    world.dispatch({ type: "drainBegun" });
    yield;
    assertGoesOn(true);
    if (world.random(4) === 0) {
      world.dispatch({ type: "drainEnded" });
      return yield* this.drain(assertGoesOn);
    }
    if (world.manifest !== null) world.manifest.state = "asleep";
  }

  *stop(isFinal: boolean): Work {
    const world = this.#world;
    yield;
    if (isFinal && world.manifest !== null) world.isEnded = true;
    yield;
    if (world.engine !== null) {
      this.#endCleanly();
      world.dispatch({ type: "stopped" });
    }
    world.end({ type: "taskEnded" });
  }

  *remove(): Work {
    const world = this.#world;
    yield;
    if (world.manifest !== null) {
      if (world.fails(5)) return world.end({ type: "taskEnded", error: new Failure() });
      world.manifest.state = "removing";
      world.dispatch({ type: "removalBegun" });
      yield;
      world.engine = null;
      yield;
      world.manifest = null;
      world.isEnded = false;
      world.dispatch({ type: "removed" });
    }
    world.end({ type: "taskEnded" });
  }

  #endCleanly(): void {
    this.#world.engine = null;
    this.#world.ending = null;
    this.#world.isSaved = true;
  }
}

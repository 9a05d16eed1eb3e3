// A machine with one engine at most, and its runner for a host: a model of processes that start, fail, crash and end
// with delays.
import type { InstanceSpec } from "../../../src/contracts/instance-spec.ts";
import type { Engine, EngineContext } from "../../../src/engines/engine.ts";
import type { EngineProcess } from "../../../src/host/engine/engine-process.ts";
import type { Manifest } from "../../../src/host/manifest/manifest.ts";
import type { EngineRunner } from "../../../src/host/engine/runner.ts";
import type { Runnable, RunnerParts, StopOptions } from "../../../src/host/engine/runner-parts.ts";
import { PublicError } from "../../../src/lib/errors.ts";
import type { Random } from "./clock.ts";

/** A host, which may be killed at any time. */
export class Life {
  isOver = false;

  /** Like the promise, but it never settles when the host is killed meanwhile. */
  async of<T>(promise: Promise<T> | T): Promise<T> {
    try {
      return await promise;
    } finally {
      if (this.isOver) await new Promise(() => undefined);
    }
  }
}

/** A started engine. */
class ModelProcess implements EngineProcess {
  readonly pid: number;
  readonly wasFound = false;
  readonly hasServed = false;
  readonly logStartsAt = 0;
  readonly spec: InstanceSpec;
  readonly #exit = Promise.withResolvers<void>();
  readonly exited = this.#exit.promise;
  readonly #readiness = Promise.withResolvers<void>();
  readonly becameReady = this.#readiness.promise;
  isReady = false;
  /** Whether it was asked to stop. */
  isStopping = false;

  constructor(pid: number, spec: InstanceSpec) {
    this.pid = pid;
    this.spec = spec;
  }

  ready(): void {
    this.isReady = true;
    this.#readiness.resolve();
  }

  end(): void {
    this.isReady = false;
    this.#exit.resolve();
  }
}

export class ModelMachine {
  readonly random: Random;
  live: ModelProcess | null = null;
  /** Whether no step fails any more. */
  isLucky = false;
  /** The engine's blocking activity. */
  blockingActivity: string | null = null;
  /** Broken invariants. */
  readonly faults: string[] = [];
  starts = 0;
  /** Failed starts and engines that ended by themselves. */
  failures = 0;
  crashes = 0;
  cleanEnds = 0;
  /** Called when an engine has a process, before it is stopped cleanly, and when it has ended. */
  onSpawned = () => {};
  onCleanEnd = () => {};
  onEnded = () => {};

  constructor(random: Random) {
    this.random = random;
  }

  /** Whether a step fails now, in so many cases of a hundred. */
  fails(percent: number): boolean {
    return !this.isLucky && this.random(100) < percent;
  }

  spawn(spec: InstanceSpec): EngineProcess {
    this.starts += 1;
    if (this.fails(5)) {
      this.failures += 1;
      throw new PublicError("The program is missing.");
    }
    if (this.live !== null) this.faults.push("two engines in one folder");
    const started = (this.live = new ModelProcess(this.starts, spec));
    this.onSpawned();
    const isDoomed = this.fails(20);
    setTimeout(() => (isDoomed ? this.#endUnasked(started) : started.ready()), 1 + this.random(60));
    return started;
  }

  crash(): void {
    if (this.live === null) return;
    this.crashes += 1;
    this.#endUnasked(this.live);
  }

  /** Lets the process end after a delay. @returns when it refuses to stop, if it ever does. */
  signal(process: ModelProcess, signal: NodeJS.Signals): Promise<void> {
    const refused = Promise.withResolvers<void>();
    if (signal === "SIGKILL") setTimeout(() => this.#end(process), this.random(5));
    else if (this.fails(15)) setTimeout(refused.resolve, this.random(20));
    else {
      process.isStopping = true;
      const delayMs = this.fails(10) ? this.random(20_000) : this.random(60);
      setTimeout(() => this.#end(process), delayMs);
    }
    return refused.promise;
  }

  #endUnasked(process: ModelProcess): void {
    if (process !== this.live) return;
    this.failures += 1;
    this.#end(process);
  }

  #end(process: ModelProcess): void {
    if (process !== this.live) return;
    this.live = null;
    this.onEnded();
    process.end();
  }
}

export class ModelRunner implements EngineRunner {
  readonly isEnding = false;
  readonly endOrder = { isFinal: false, takeBack: () => false };
  readonly #parts: RunnerParts;
  readonly #machine: ModelMachine;
  readonly #life: Life;
  #runnable: Runnable | null = null;
  #chosenFor: Manifest["spec"] | null = null;
  #process: EngineProcess | null = null;

  constructor(parts: RunnerParts, machine: ModelMachine, life: Life) {
    this.#parts = parts;
    this.#machine = machine;
    this.#life = life;
  }

  get process(): EngineProcess | null {
    return this.#process;
  }

  get liveProcess(): EngineProcess | null {
    return this.#process;
  }

  get runnable(): Runnable | null {
    return this.#runnable;
  }

  get installed() {
    return this.#runnable?.context.installed ?? null;
  }

  async choose({ spec, engine: { name } }: Manifest): Promise<Runnable> {
    await this.#life.of(null);
    if (this.#chosenFor === spec && this.#runnable !== null) return this.#runnable;
    const engine: Partial<Engine> = {
      name,
      users: () => this.#takingTime(() => ({ users: spec.users, leftOut: 0 })),
      blockingActivity: () => this.#takingTime(() => this.#machine.blockingActivity),
      isReady: () =>
        this.#takingTime(() => this.#machine.live?.isReady === true && !this.#machine.live.isStopping),
    };
    const installed = { name, version: "18.4" };
    const context: Partial<EngineContext<InstanceSpec>> = {
      spec,
      installed: installed as EngineContext<InstanceSpec>["installed"],
      limits: { memoryBytes: 1, enforcedBy: "engine" },
    };
    this.#chosenFor = spec;
    return (this.#runnable = { engine, context } as Runnable);
  }

  isAsWritten({ context }: Runnable): boolean {
    const { live } = this.#machine;
    const { spec } = context;
    return live === null || memoryOf(live.spec) === memoryOf(spec);
  }

  find(): void {
    const { live } = this.#machine;
    if (live !== null)
      this.#watch({ pid: live.pid, exited: live.exited, wasFound: true, hasServed: false, logStartsAt: 0 });
  }

  async start({ context }: Runnable): Promise<EngineProcess> {
    await this.#pause(5);
    const started = this.#machine.spawn(context.spec);
    this.#watch(started);
    return await this.#life.of(started);
  }

  async untilReady(_: Runnable, running: EngineProcess): Promise<void> {
    const { leaving } = this.#parts;
    const process = this.#known(running);
    const givenUp = new Promise<string>((resolve) => {
      if (leaving.aborted) resolve("The engine is being stopped.");
      leaving.addEventListener("abort", () => resolve("The engine is being stopped."));
    });
    const becameReady = process === null || process.isStopping ? [] : [process.becameReady.then(() => null)];
    const ended = running.exited.then(() => "The engine ended.");
    const fault = await this.#life.of(Promise.race([ended, ...becameReady, givenUp]));
    if (fault !== null) throw new PublicError(fault);
  }

  async apply(_: Runnable, running: EngineProcess): Promise<{ isDataNew: boolean; faults: [] }> {
    await this.#pause(20);
    if (this.#machine.fails(5)) {
      this.#machine.failures += 1;
      throw new Error("The engine does not let anybody in.");
    }
    this.#assertRuns(running);
    return { isDataNew: false, faults: [] };
  }

  oomKills(): number {
    return 0;
  }

  forget(): void {
    this.#runnable = null;
    this.#chosenFor = null;
  }

  limit(_: Runnable, running: EngineProcess): void {
    this.#assertRuns(running);
  }

  kill(): void {
    const process = this.#process && this.#known(this.#process);
    if (process !== null && !this.#life.isOver) void this.#machine.signal(process, "SIGKILL");
  }

  async stopPrevious(): Promise<boolean> {
    return await this.stop();
  }

  async stop({ signal = "SIGTERM" }: StopOptions = {}): Promise<boolean> {
    await this.#life.of(null);
    const { live } = this.#machine;
    this.#process = null;
    if (live === null) return false;
    void this.#machine.signal(live, signal);
    // It is killed in the end.
    const timer = setTimeout(() => void this.#machine.signal(live, "SIGKILL"), 20_000);
    await this.#life.of(live.exited);
    clearTimeout(timer);
    return true;
  }

  async end(_: Runnable, running: EngineProcess): Promise<boolean> {
    const { leaving } = this.#parts;
    await this.#life.of(null);
    if (leaving.aborted) throw new PublicError("The engine is being stopped.");
    const process = this.#known(running);
    if (process !== null) this.#machine.onCleanEnd();
    this.#process = null;
    const refused = process === null ? Promise.resolve() : this.#machine.signal(process, "SIGTERM");
    const givenUp = new Promise<void>((resolve) => leaving.addEventListener("abort", () => resolve()));
    const ended = running.exited.then(() => true);
    const stays = Promise.race([refused, givenUp]).then(() => false);
    const hasEnded = await this.#life.of(Promise.race([ended, stays]));
    if (hasEnded) this.#machine.cleanEnds += 1;
    else this.#process = running;
    if (!hasEnded && leaving.aborted) throw new PublicError("The engine is being stopped.");
    return hasEnded;
  }

  /** The running process, if it is this process. */
  #known(running: EngineProcess): ModelProcess | null {
    const { live } = this.#machine;
    return live?.pid === running.pid ? live : null;
  }

  #assertRuns(running: EngineProcess): void {
    if (this.#process !== running) throw new PublicError("The engine ended.");
  }

  #watch(found: EngineProcess): void {
    this.#process = found;
    void this.#life.of(found.exited).then(() => this.#ended(found));
  }

  #ended(found: EngineProcess): void {
    if (this.#process !== found) return;
    this.#process = null;
    this.#parts.onEnded(found);
  }

  async #takingTime<T>(answer: () => T): Promise<T> {
    await this.#pause(4);
    if (this.#machine.live === null || this.#machine.fails(3)) throw new Error("The engine does not answer.");
    return answer();
  }

  async #pause(belowMs: number): Promise<void> {
    await this.#life.of(Bun.sleep(this.#machine.random(belowMs)));
  }
}

function memoryOf(spec: InstanceSpec): number {
  return "memoryBytes" in spec ? spec.memoryBytes : 0;
}

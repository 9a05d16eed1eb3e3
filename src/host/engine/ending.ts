// Ends the process of an instance, and goes on with an end that an earlier host has begun.
import type { Engine } from "../../engines/engine.ts";
import type { Log } from "../../lib/log.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { endCleanly } from "./clean-end.ts";
import { EndOrder } from "./end-order.ts";
import { stopEngine, type EngineProcess, type HowToStop } from "./engine-process.ts";

export class Ending {
  readonly order: EndOrder;
  readonly #folder: InstanceFolder;
  #process: EngineProcess | null = null;

  constructor({ folder, log }: { folder: InstanceFolder; log: Log }) {
    this.#folder = folder;
    this.order = new EndOrder(folder, log);
  }

  /** The process that is being ended: nobody uses it any more, and it can still be killed and read. */
  get process(): EngineProcess | null {
    return this.#process;
  }

  /**
   * Ends a process, by force after a timeout, and then removes all that it left behind. A process that an earlier host
   * has asked to end is not asked again: many programs take that for an order to end at once.
   * @param isFinal whether later hosts do not start the instance again.
   */
  async stop(running: EngineProcess | null, how: HowToStop, isFinal: boolean): Promise<void> {
    if (isFinal) this.order.makeFinal(running);
    await this.#whileEnding(running, () => this.#stop(running, how));
    this.order.carriedOut();
  }

  /** Ends an engine with all its data saved. @returns false when it goes on. */
  async cleanly(engine: Engine, running: EngineProcess, leaving: AbortSignal): Promise<boolean> {
    return await this.#whileEnding(running, () => endCleanly(engine, running, this.#folder, leaving));
  }

  async #stop(running: EngineProcess | null, how: HowToStop): Promise<void> {
    const isForced = how.signal === "SIGKILL";
    const leftMs = running === null || isForced ? null : this.order.leftMs(running);
    const timeoutMs = Math.min(how.timeoutMs, leftMs ?? how.timeoutMs);
    const signal = leftMs === null ? how.signal : null;
    const ended = stopEngine(running, { ...how, signal, timeoutMs }, this.#folder);
    // Right after the signal, and not before it: a host that was killed in between would leave a process that nobody has
    // asked to end.
    if (running !== null && signal !== null && !isForced && !how.mayRefuse)
      this.order.asked(running, timeoutMs);
    await ended;
  }

  async #whileEnding<Result>(running: EngineProcess | null, end: () => Promise<Result>): Promise<Result> {
    this.#process = running;
    return await end().finally(() => (this.#process = null));
  }
}

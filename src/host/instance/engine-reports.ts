// What the engines of running instances report of themselves: gauges, and events as they happen.
import type { Figures } from "../../contracts/host-answers.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { Instance } from "./instance.ts";

export class EngineReports {
  readonly #instances: ReadonlyMap<string, Instance>;

  constructor(instances: ReadonlyMap<string, Instance>) {
    this.#instances = instances;
  }

  /** @throws PublicError when the instance does not run or does not answer. */
  async figures(id: string): Promise<Figures> {
    const { engine, context } = this.#running(id);
    return (await engine.figures?.(context)) ?? { whole: {}, parts: [] };
  }

  /** @throws PublicError when the instance does not run, does not answer, or reports nothing. */
  async debug(id: string, part: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { engine, context } = this.#running(id);
    const reports = await engine.debug?.(context, part, signal);
    if (reports === undefined) throw new PublicError(`The engine ${engine.name} reports nothing.`);
    return reports;
  }

  #running(id: string): Runnable {
    const instance = this.#instances.get(id);
    if (instance === undefined) throw new PublicError(`${id} does not run.`);
    return instance.running;
  }
}

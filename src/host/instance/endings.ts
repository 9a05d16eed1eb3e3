// Ends engines of instances that are about to be removed, in the time that the engines have for it.
import type { Instance } from "./instance.ts";

export class Endings {
  readonly #instances: ReadonlyMap<string, Instance>;
  readonly #begun = new Set<string>();

  constructor(instances: ReadonlyMap<string, Instance>) {
    this.#instances = instances;
  }

  /**
   * Begins to end an engine that runs, once for all calls; neither this host nor a later host starts it by itself again.
   * @returns whether it still has a process, and has to be asked again.
   */
  end(id: string): boolean {
    // The runner knows no process from the moment it stops it.
    if (this.#begun.has(id)) return true;
    const instance = this.#instances.get(id);
    if (instance === undefined || instance.liveProcess === null) return false;
    // A program that has just started would miss the signal, and a program that falls asleep ends by itself.
    const { name } = instance.lifecycle.state;
    if (name !== "running" && name !== "failed") return true;
    this.#begun.add(id);
    const over = () => this.#begun.delete(id);
    instance.end().then(over, over);
    return true;
  }
}

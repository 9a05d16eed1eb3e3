// Ends engines of instances that are about to be removed, in the time that the engines have for it.
import type { Instance } from "./instance.ts";

export class Endings {
  readonly #instances: ReadonlyMap<string, Instance>;
  readonly #begun = new Set<string>();

  constructor(instances: ReadonlyMap<string, Instance>) {
    this.#instances = instances;
  }

  /**
   * Begins to end an engine, once for all calls; this host does not start it again.
   * @returns whether it still runs.
   */
  end(id: string): boolean {
    const instance = this.#instances.get(id);
    if (instance?.hasProcess !== true) return false;
    if (this.#begun.has(id)) return true;
    this.#begun.add(id);
    const over = () => this.#begun.delete(id);
    instance.close().then(over, over);
    return true;
  }
}

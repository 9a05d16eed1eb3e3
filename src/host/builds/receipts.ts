// Keeps the orders of a build apart: a request that broke off may still be read while the same order comes again.

/** The orders that are being received, by the id of their build. */
export class Receipts {
  readonly #latest = new Map<string, Promise<unknown>>();

  /** Runs a task when all earlier tasks of the same id have ended, however they ended. */
  async run<T>(id: string, task: () => Promise<T>): Promise<T> {
    const former = this.#latest.get(id);
    const result = (async () => {
      await former;
      return await task();
    })();
    const ended = result.catch(() => undefined);
    this.#latest.set(id, ended);
    try {
      return await result;
    } finally {
      if (this.#latest.get(id) === ended) this.#latest.delete(id);
    }
  }

  /** Resolves when no task of this id goes on. */
  async ended(id: string): Promise<void> {
    await this.#latest.get(id);
  }
}

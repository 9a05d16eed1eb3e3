// Lets one task run at a time, in the order of arrival.

export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task when all earlier tasks have ended, however they ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task, task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

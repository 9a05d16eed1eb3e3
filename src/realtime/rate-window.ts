// A limit on how often something may happen within a second, wherever the second begins.

const SECOND_MS = 1_000;

export class RateWindow {
  /** When it last happened, in milliseconds of the steady clock; a ring. */
  readonly #times: Float64Array;
  #oldest = 0;

  /** @param limit how often it may happen within a second. */
  constructor(limit: number) {
    this.#times = new Float64Array(limit).fill(-Infinity);
  }

  /** @returns false when it has happened too often; that is not counted. */
  take(): boolean {
    const now = performance.now();
    const times = this.#times;
    if (now - (times[this.#oldest] as number) < SECOND_MS) return false;
    times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % times.length;
    return true;
  }
}

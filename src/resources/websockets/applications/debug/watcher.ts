// What waits for one watcher of an application, within a bound.
import type { Observed } from "./render.ts";

/** The most that waits for a watcher that reads slowly; the rest is counted. */
const MAX_WAITING = 200;

export class Watcher {
  readonly familyId: string;
  #waiting: Observed[] = [];
  #omitted = 0;
  #rung = Promise.withResolvers<void>();

  constructor(familyId: string) {
    this.familyId = familyId;
  }

  /** Whether something waits. */
  get hasMore(): boolean {
    return this.#waiting.length > 0;
  }

  add(observed: Observed): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(observed);
    else this.#omitted += observed.type === "omitted" ? observed.count : 1;
    this.#rung.resolve();
  }

  /** Everything that waits, in its order. */
  take(): Observed[] {
    const taken = this.#waiting;
    if (this.#omitted > 0) {
      taken.push({ type: "omitted", at: new Date().toISOString(), count: this.#omitted });
    }
    this.#waiting = [];
    this.#omitted = 0;
    this.#rung = Promise.withResolvers<void>();
    return taken;
  }

  /** Resolves when something waits, after a time, or at the end of the stream. */
  async within(ms: number, ended: AbortSignal): Promise<void> {
    const timer = setTimeout(() => this.#rung.resolve(), Math.max(0, ms));
    const end = () => this.#rung.resolve();
    ended.addEventListener("abort", end, { once: true });
    if (ended.aborted) end();
    await this.#rung.promise;
    clearTimeout(timer);
    ended.removeEventListener("abort", end);
  }
}

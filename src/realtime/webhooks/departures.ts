// Holds back departures for a while, since the client may only be reconnecting.
import type { SharedCount } from "../shared-count.ts";
import type { Clock } from "./clock.ts";

/** Beyond this number the oldest departures are reported early, so that an application leaves memory to the others. */
const MAX_HELD = 50_000;

interface Held<Event> {
  event: Event;
  dueMs: number;
}

/** All departures are held for the same time, so they fall due in the order of arrival, and one timer is enough. */
export class Departures<Event> {
  readonly #clock: Clock;
  readonly #holdMs: number;
  readonly #emit: (event: Event) => void;
  readonly #held = new Map<string, Held<Event>>();
  readonly #inCluster: SharedCount;
  #cancelTimer: (() => void) | null = null;

  /** @param options.inCluster what all applications hold back; above its bound each reports its own oldest early. */
  constructor(options: {
    clock: Clock;
    holdMs: number;
    inCluster: SharedCount;
    emit: (event: Event) => void;
  }) {
    this.#clock = options.clock;
    this.#holdMs = options.holdMs;
    this.#inCluster = options.inCluster;
    this.#emit = options.emit;
  }

  /** Reports the event after the time, unless `takeBack` is called with the key before. */
  leave(key: string, event: Event): void {
    this.#release(key);
    this.#held.set(key, { event, dueMs: this.#clock.steadyMs() + this.#holdMs });
    this.#inCluster.count += 1;
    if (this.#held.size > MAX_HELD || this.#inCluster.count > this.#inCluster.max) this.#emitOldest();
    this.#cancelTimer ??= this.#clock.after(this.#holdMs, () => this.#emitDue());
  }

  /** @returns the departure of the key within the time, which is not reported any more. */
  takeBack(key: string): Event | undefined {
    const held = this.#held.get(key);
    this.#release(key);
    return held?.event;
  }

  /** Reports everything now. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    while (this.#held.size > 0) this.#emitOldest();
  }

  #emitDue(): void {
    this.#cancelTimer = null;
    const nowMs = this.#clock.steadyMs();
    for (const { dueMs } of this.#held.values()) {
      if (dueMs > nowMs) {
        this.#cancelTimer = this.#clock.after(dueMs - nowMs, () => this.#emitDue());
        return;
      }
      this.#emitOldest();
    }
  }

  #emitOldest(): void {
    for (const [key, { event }] of this.#held) {
      this.#release(key);
      this.#emit(event);
      return;
    }
  }

  #release(key: string): void {
    if (this.#held.delete(key)) this.#inCluster.count -= 1;
  }
}

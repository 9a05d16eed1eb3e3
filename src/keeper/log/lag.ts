// How long changes of a log may be outside of its archive already.
import type { Step } from "./shipping.ts";

/** The passes over a log that is awake follow one another sooner, unless something holds them up. */
const NEXT_PASS_WITHIN_MS = 5_000;
const MS_PER_SECOND = 1000;

export class Lag {
  /** Since when there may be changes that are not shipped; null when all is shipped. */
  #behindSince: number | null = null;
  /** When the latest pass began that has shipped all. */
  #shippedAt = Number.POSITIVE_INFINITY;

  /** There may be changes since an instant that are not shipped; the earliest such instant counts. */
  begin(at: number): void {
    this.#behindSince ??= at;
  }

  /** A pass has ended that began at an instant. */
  passed(startedAt: number, step: Step): void {
    if (step !== "end") return this.begin(startedAt);
    this.#behindSince = null;
    this.#shippedAt = startedAt;
  }

  /** @param isAwake whether the engine may change something; then a pass that does not come counts as well. */
  seconds(isAwake: boolean, now: number): number {
    const isWaiting = isAwake && now - this.#shippedAt > NEXT_PASS_WITHIN_MS;
    const since = this.#behindSince ?? (isWaiting ? this.#shippedAt : now);
    return Math.max(0, now - since) / MS_PER_SECOND;
  }
}

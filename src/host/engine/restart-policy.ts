// When an engine is started again: at once after its first crash, later and later while it keeps failing.
import { backoffMs } from "../../lib/backoff.ts";

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 30_000;
/** One that came up before it ended will most likely do so again, and its customers wait. */
const LONGEST_RETRY_AFTER_CRASH_MS = 5_000;
/** An engine that ran this long is not in a crash loop. */
const STEADY_MS = 1_000;
/** A start that is to come so soon is waited for; whoever wants it to run hears of a later one when it happens. */
const LONGEST_HOLD_MS = 500;
/** Whoever waits for the engine has it tried sooner, but no more often than this. */
const SHORTEST_PAUSE_MS = 1_000;

export class RestartPolicy {
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueAt = 0;
  #failedAt = 0;
  readonly #start: () => void;

  constructor(start: () => void) {
    this.#start = start;
  }

  /** The engine ended after it had run for a time. */
  afterCrash(ranMs: number): void {
    if (ranMs >= STEADY_MS) this.#failures = 0;
    const isFirst = this.#failures === 0;
    this.#failures += 1;
    this.#startIn(isFirst ? 0 : this.#backoff(LONGEST_RETRY_AFTER_CRASH_MS));
  }

  /** The engine could not be started. */
  afterFailure(): void {
    this.#failures += 1;
    this.#startIn(this.#backoff(LONGEST_RETRY_MS));
  }

  /** Forgets a start that was to come. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#dueAt = 0;
  }

  /**
   * Waits for a start that is to come soon, and forgets it, for the caller is about to start.
   * @param isUrgent whether a client waits for the engine.
   * @returns false when it is to come later, which the caller is to leave to it.
   */
  async begin(isUrgent = false): Promise<boolean> {
    const dueAt = isUrgent ? Math.min(this.#dueAt, this.#failedAt + SHORTEST_PAUSE_MS) : this.#dueAt;
    const remainingMs = dueAt - performance.now();
    if (remainingMs > LONGEST_HOLD_MS) return false;
    if (remainingMs > 0) await Bun.sleep(remainingMs);
    this.cancel();
    return true;
  }

  #backoff(longestMs: number): number {
    return backoffMs(this.#failures, FIRST_RETRY_MS, longestMs);
  }

  #startIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#failedAt = performance.now();
    this.#dueAt = this.#failedAt + delayMs;
    this.#timer = setTimeout(this.#start, delayMs);
  }
}

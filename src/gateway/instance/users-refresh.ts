// Asks the host for the users of an instance: once for all who want to know, and not without end.
import type { Timer, Timers } from "../reactor/timers.ts";

/** Whoever guesses names makes the engine be asked no more often than this; a few times in a row are as quick as they can be. */
const ASKS_IN_A_ROW = 10;
const ASK_EVERY_MS = 200;
/** A host that does not answer is not waited for any longer. */
const TIMEOUT_MS = 2_000;

export class UsersRefresh {
  readonly #timers: Timers;
  readonly #send: () => void;
  #answer: PromiseWithResolvers<void> | null = null;
  /** Whether the host has the question that `#answer` is to. */
  #isSent = false;
  /** What is to be asked after that. */
  #next: Promise<void> | null = null;
  #timeout: Timer | null = null;
  #allowance = ASKS_IN_A_ROW;
  #countedAtMs: number;

  constructor(timers: Timers, send: () => void) {
    this.#timers = timers;
    this.#send = send;
    this.#countedAtMs = timers.now();
  }

  /** Resolves when the host has answered from here on, which it is asked later the more often it was asked. */
  ask(): Promise<void> {
    if (this.#answer === null) return this.#begin();
    if (!this.#isSent) return this.#answer.promise;
    // The engine may have been asked already, before what this one wants to know of came about.
    return (this.#next ??= this.#answer.promise.then(() => {
      this.#next = null;
      return this.ask();
    }));
  }

  /** The host has told of the instance, or will not any more. */
  answered(): void {
    this.#timeout?.cancel();
    const answer = this.#answer;
    this.#answer = null;
    answer?.resolve();
  }

  #begin(): Promise<void> {
    const answer = Promise.withResolvers<void>();
    this.#answer = answer;
    this.#isSent = false;
    const send = () => {
      if (this.#answer !== answer) return;
      this.#isSent = true;
      this.#send();
    };
    const waitMs = this.#waitMs();
    this.#timeout = this.#timers.after(waitMs + TIMEOUT_MS, () => this.answered());
    if (waitMs === 0) send();
    else this.#timers.after(waitMs, send);
    return answer.promise;
  }

  /** How long to wait for the next turn to ask, which is taken with it. */
  #waitMs(): number {
    const nowMs = this.#timers.now();
    this.#allowance = Math.min(ASKS_IN_A_ROW, this.#allowance + (nowMs - this.#countedAtMs) / ASK_EVERY_MS);
    this.#countedAtMs = nowMs;
    this.#allowance -= 1;
    return Math.max(0, -this.#allowance * ASK_EVERY_MS);
  }
}

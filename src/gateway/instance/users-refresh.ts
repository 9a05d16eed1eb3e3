// Asks the host for the users of an instance: one question for all clients that wait, and at a bounded rate.
import type { Timer, Timers } from "../sockets/timers.ts";

/** The questions without a pause between them; later pauses bound the load by a client that guesses names. */
const ASKS_IN_A_ROW = 10;
const ASK_EVERY_MS = 200;
/** The host and the gateway read all users for each question. So a question for more users counts as several questions. */
const USERS_OF_ASK = 400;
/** How long a question waits for the host's answer, unless said otherwise. */
const TIMEOUT_MS = 2_000;

export class UsersRefresh {
  readonly #timers: Timers;
  readonly #known: () => number;
  readonly #send: (question: number) => void;
  readonly #timeoutMs: number;
  #answer: PromiseWithResolvers<void> | null = null;
  /** The number of the question behind `#answer`, or of the latest one. */
  #question = 0;
  /** Whether the question behind `#answer` has been sent to the host. */
  #isSent = false;
  /** The question that follows `#answer`. */
  #next: Promise<void> | null = null;
  #timeout: Timer | null = null;
  #allowance = ASKS_IN_A_ROW;
  #countedAtMs: number;

  /**
   * @param known how many users the gateway knows.
   * @param send asks the host the question of this number.
   */
  constructor(timers: Timers, known: () => number, send: (question: number) => void, timeoutMs = TIMEOUT_MS) {
    this.#timers = timers;
    this.#known = known;
    this.#send = send;
    this.#timeoutMs = timeoutMs;
    this.#countedAtMs = timers.now();
  }

  /** Resolves when the host answers a question sent from now on, or does not in time. Frequent questions wait. */
  ask(): Promise<void> {
    if (this.#answer === null) return this.#begin();
    if (!this.#isSent) return this.#answer.promise;
    // The host may have read the users before the change that this caller asks about.
    return (this.#next ??= this.#answer.promise.then(() => {
      this.#next = null;
      return this.ask();
    }));
  }

  /** The host has answered a question, which may be an earlier one whose time was over. */
  answered(question: number): void {
    if (question === this.#question) this.end();
  }

  /** The question has its answer, or will have none. */
  end(): void {
    this.#timeout?.cancel();
    const answer = this.#answer;
    this.#answer = null;
    answer?.resolve();
  }

  #begin(): Promise<void> {
    const answer = Promise.withResolvers<void>();
    this.#answer = answer;
    this.#question += 1;
    this.#isSent = false;
    const send = () => {
      if (this.#answer !== answer) return;
      this.#isSent = true;
      this.#send(this.#question);
    };
    const waitMs = this.#waitMs();
    this.#timeout = this.#timers.after(waitMs + this.#timeoutMs, () => this.end());
    if (waitMs === 0) send();
    else this.#timers.after(waitMs, send);
    return answer.promise;
  }

  /** Takes the next turn to ask, and returns how long to wait for it. */
  #waitMs(): number {
    const nowMs = this.#timers.now();
    this.#allowance = Math.min(ASKS_IN_A_ROW, this.#allowance + (nowMs - this.#countedAtMs) / ASK_EVERY_MS);
    this.#countedAtMs = nowMs;
    this.#allowance -= Math.max(1, this.#known() / USERS_OF_ASK);
    return Math.max(0, -this.#allowance * ASK_EVERY_MS);
  }
}

// Limits how many engines start at a time: more than the processors can take only makes all of them late. Owners have
// their turns, so that many slow starts of one owner keep no start of another waiting.
import { availableParallelism } from "node:os";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { OwnerTurns } from "../../lib/owner-turns.ts";

/** A longer start, such as a recovery, does not use the processors all the time. */
const LONGEST_HOLD_MS = 2_000;

/** A start that asks for a place. */
export interface StartRequest {
  /** The owner of the start, see `startOwnerOf`. */
  owner: string;
  /** Whether a client waits for the start; urgent starts go first. */
  isUrgent: boolean;
  /** Gives the start up. */
  signal: AbortSignal;
}

interface WaitingStart extends StartRequest {
  begin(): void;
}

export class StartLimiter {
  readonly #limit: number;
  readonly #limitOfOwner: number;
  readonly #turns = new OwnerTurns();
  #waiting: WaitingStart[] = [];
  #count = 0;

  constructor(limit = 2 * availableParallelism()) {
    this.#limit = limit;
    // A place is left for the first start of another owner. While owners wait, their turns give them equal parts.
    this.#limitOfOwner = Math.max(1, limit - 1);
  }

  /**
   * Waits for a turn.
   * @returns a function that lets the next start in; further calls do nothing.
   * @throws the reason of the signal when that is aborted first.
   */
  async enter(request: StartRequest): Promise<() => void> {
    const { signal } = request;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiting = { ...request, begin: () => resolve(this.#begin(request.owner)) };
    const giveUp = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(signal.reason);
    };
    this.#waiting.push(waiting);
    signal.addEventListener("abort", giveUp);
    this.#admit();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  #admit(): void {
    while (this.#count < this.#limit) {
      const next = this.#next();
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      next.begin();
    }
  }

  #next(): WaitingStart | undefined {
    const ready = this.#waiting.filter(({ owner }) => this.#turns.underWay(owner) < this.#limitOfOwner);
    const urgent = ready.filter(({ isUrgent }) => isUrgent);
    return this.#turns.next(urgent.length > 0 ? urgent : ready);
  }

  /** Takes a place. @returns a function that frees it. */
  #begin(owner: string): () => void {
    const end = this.#turns.begin(owner);
    this.#count += 1;
    let isHeld = true;
    const leave = () => {
      clearTimeout(timer);
      if (!isHeld) return;
      isHeld = false;
      this.#count -= 1;
      end();
      this.#admit();
    };
    const timer = setTimeout(leave, LONGEST_HOLD_MS);
    return leave;
  }
}

/** The owner that the start of an instance counts for: all instances of an environment have the same. */
export function startOwnerOf(spec: InstanceSpec): string {
  return spec.kind === "application" ? spec.environment : spec.id;
}

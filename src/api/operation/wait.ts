// Answers that are held until a resource reaches a status, woken by the store and never by polling.
import { z } from "zod";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";

/** How long an answer is held at most, in milliseconds. */
const MAX_WAIT_MS = 60_000;

/** The query member `wait`, for operations that read one resource. */
export function waitQuery<Status extends string>(statuses: readonly [Status, ...Status[]]) {
  return {
    wait: z.enum(statuses).optional().meta({
      description:
        "Holds the answer until the resource has this status or 60 seconds are over, then answers with its present state. `deleted` waits for a 404.",
      example: "available",
    }),
  };
}

/** A request that is being held. */
interface Waiter {
  ring(): void;
}

/** All requests of this process that are being held, by the id of the resource they wait for. */
export class StatusWaiters {
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #maxWaitMs: number;
  readonly #closing = new AbortController();
  #stopListening = async () => {};

  constructor(maxWaitMs = MAX_WAIT_MS) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Begins to hear of changes. News that came while the connection was lost is made up for by asking again. */
  async listen(db: Database, log: Log): Promise<void> {
    const subscription = await db.listen(
      "status",
      (id) => this.#ring(this.#waiters.get(id)),
      () => {
        log.debug("listening for changes of status");
        for (const waiters of this.#waiters.values()) this.#ring(waiters);
      },
    );
    this.#stopListening = () => subscription.unlisten();
  }

  /** Lets all held requests go and stops listening. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#stopListening();
  }

  /** How many requests are held now. */
  get count(): number {
    return this.#waiters.values().reduce((sum, waiters) => sum + waiters.size, 0);
  }

  /**
   * Reads until what was read is as wished.
   * @param signal ends the wait, when the client is gone for example.
   * @returns the last that was read, as wished or not.
   */
  async until<State>(
    id: string,
    read: () => Promise<State>,
    isReached: (state: State) => boolean,
    signal: AbortSignal,
  ): Promise<State> {
    let bell = Promise.withResolvers<void>();
    const forget = this.#register(id, { ring: () => bell.resolve() });
    const end = endOfWait([signal, this.#closing.signal], this.#maxWaitMs);
    try {
      for (;;) {
        // The bell is hung up before the look, so that news which arrives during the look is not lost.
        bell = Promise.withResolvers<void>();
        const state = await read();
        if (isReached(state) || end.isOver()) return state;
        await Promise.race([bell.promise, end.promise]);
      }
    } finally {
      end.cancel();
      forget();
    }
  }

  #register(id: string, waiter: Waiter): () => void {
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(waiter));
    return () => {
      waiters.delete(waiter);
      if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
    };
  }

  #ring(waiters: Set<Waiter> | undefined): void {
    for (const waiter of waiters ?? []) waiter.ring();
  }
}

/** Resolves when a signal is aborted or the time is over; must be cancelled, or its timer and listeners stay. */
function endOfWait(
  signals: AbortSignal[],
  ms: number,
): { promise: Promise<void>; isOver: () => boolean; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const end = () => {
    isOver = true;
    resolve();
  };
  const timer = setTimeout(end, ms);
  for (const signal of signals) {
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
  }
  const cancel = () => {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", end);
  };
  return { promise, isOver: () => isOver, cancel };
}

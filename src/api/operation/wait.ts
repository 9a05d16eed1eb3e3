// Answers that are held until a resource reaches a status, woken by the store and never by polling.
import { z } from "zod";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { SharedReading } from "./shared-reading.ts";

/** How long an answer is held at most, in milliseconds. */
const MAX_WAIT_MS = 60_000;

/** The query member `wait`, for operations that read one resource. */
export function waitQuery<Status extends string>(statuses: readonly [Status, ...Status[]]) {
  return {
    wait: z
      .enum([...new Set<string>([...statuses, "deleted"])])
      .optional()
      .meta({
        description:
          "Holds the answer until the resource has this status or one that no other follows, or until 60 seconds are over, then answers with its present state. `deleted` waits for a 404.",
        example: "available",
      }),
  };
}

/** The way in which an operation waits. */
export type Waits = Pick<StatusWaiters, "until">;

/** What a request waits for. */
export interface AwaitedState {
  /** The id of the resource. */
  id: string;
  /** Names what is read of it, and for which organization: requests with the same view share the reading. */
  view: string;
}

/** The readings of a resource by their views. */
type Readings = Map<string, SharedReading<unknown>>;

/** All held requests of this process, by the id of the resource they wait for. */
export class StatusWaiters {
  readonly #readings = new Map<string, Readings>();
  readonly #maxWaitMs: number;
  readonly #closing = new AbortController();
  #stopListening = async () => {};

  constructor(maxWaitMs = MAX_WAIT_MS) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Begins to listen for changes. After a lost connection every waiter reads again, so that no change is missed. */
  async listen(db: Database, log: Log): Promise<void> {
    const subscription = await db.listen(
      "status",
      (id) => this.#ring(this.#readings.get(id)),
      () => {
        log.debug("listening for changes of status");
        for (const readings of this.#readings.values()) this.#ring(readings);
      },
    );
    this.#stopListening = () => subscription.unlisten();
  }

  /** Answers all held requests and stops listening. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#stopListening();
  }

  /** The number of held requests. */
  get count(): number {
    const readings = this.#readings.values().flatMap((each) => each.values());
    return readings.reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Reads until the state is the requested one.
   * @param signal ends the wait, for example when the client is gone.
   * @returns the last state that was read, the requested one or not.
   */
  async until<State>(
    awaited: AwaitedState,
    read: () => Promise<State>,
    isReached: (state: State) => boolean,
    signal: AbortSignal,
  ): Promise<State> {
    let bell = Promise.withResolvers<void>();
    let next = read;
    const receive = (state: Promise<State>) => {
      next = () => state;
      bell.resolve();
    };
    const forget = this.#register(awaited, read, receive);
    const end = endOfWait([signal, this.#closing.signal], this.#maxWaitMs);
    try {
      for (;;) {
        // The bell is set before the read, so that a change during the read is not lost.
        bell = Promise.withResolvers<void>();
        const readNext = next;
        next = read;
        const state = await readNext();
        if (isReached(state) || end.isOver()) return state;
        await Promise.race([bell.promise, end.promise]);
      }
    } finally {
      end.cancel();
      forget();
    }
  }

  #register<State>(
    { id, view }: AwaitedState,
    read: () => Promise<State>,
    receive: (state: Promise<State>) => void,
  ): () => void {
    const readings: Readings = this.#readings.get(id) ?? new Map();
    const reading = readings.get(view) ?? new SharedReading();
    this.#readings.set(id, readings.set(view, reading));
    // Requests with the same view read states of the same type.
    const waiter = { read, receive: (state: Promise<unknown>) => receive(state as Promise<State>) };
    reading.add(waiter);
    return () => {
      reading.remove(waiter);
      if (reading.size === 0 && readings.get(view) === reading) readings.delete(view);
      if (readings.size === 0 && this.#readings.get(id) === readings) this.#readings.delete(id);
    };
  }

  #ring(readings: Readings | undefined): void {
    for (const reading of readings?.values() ?? []) reading.ring();
  }
}

/** The waits of one request, which knows whether there were any. */
export class RequestWaits implements Waits {
  /** Whether its answer was held, so that much may have changed meanwhile. */
  hasWaited = false;
  readonly #waiters: Waits;

  constructor(waiters: Waits) {
    this.#waiters = waiters;
  }

  async until<State>(...wait: Parameters<typeof StatusWaiters.prototype.until<State>>): Promise<State> {
    this.hasWaited = true;
    return await this.#waiters.until(...wait);
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

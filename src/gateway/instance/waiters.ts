// Clients that are held until something happens, the time is over, or they go away.
import type { ClientSocket } from "../sockets/client-socket.ts";
import type { Timers } from "../sockets/timers.ts";
import { StreamEnded } from "../stream.ts";

export class Waiters {
  readonly #timers: Timers;
  readonly #waiting = new Set<() => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** How many clients wait for `wakeAll`. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Something has happened: all waiting clients look again, in the order of their arrival. */
  wakeAll(): void {
    const woken = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of woken) wake();
  }

  /**
   * Waits for `wakeAll`, at most `ms`.
   * @throws StreamEnded when the client goes away.
   */
  wait(client: ClientSocket, ms: number): Promise<void> {
    return this.#hold(client, ms, this.#waiting);
  }

  /**
   * Waits for `ms`.
   * @throws StreamEnded when the client goes away.
   */
  pause(client: ClientSocket, ms: number): Promise<void> {
    return this.#hold(client, ms, null);
  }

  #hold(client: ClientSocket, ms: number, waiting: Set<() => void> | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        timer.cancel();
        forget();
        waiting?.delete(done);
        resolve();
      };
      const timer = this.#timers.after(ms, done);
      waiting?.add(done);
      const forget = whenLeft(client, () => {
        timer.cancel();
        waiting?.delete(done);
        reject(new StreamEnded());
      });
    });
  }
}

/**
 * Calls `action` once when the client goes away. A client with unanswered requests that sends nothing more may still read
 * the answers, and goes away only with its connection.
 * @returns a function that cancels that.
 */
function whenLeft(client: ClientSocket, action: () => void): () => void {
  const isOwed = () => client.hasUnanswered || client.hasUnread();
  if (isOwed()) return client.onGone(action);
  let forgetGone: (() => void) | null = null;
  const forgetPeerEnd = client.onPeerEnd(() => {
    if (isOwed()) forgetGone = client.onGone(action);
    else action();
  });
  return () => {
    forgetPeerEnd();
    forgetGone?.();
  };
}

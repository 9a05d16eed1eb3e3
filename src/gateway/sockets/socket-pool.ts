// All sockets of the gateway: their number, their clock, and what happens when there are too many or one of them fails.
import { openFileLimit } from "../../lib/open-files.ts";
import { AcceptTurns } from "./accept-turns.ts";
import type { Timers } from "./timers.ts";

/** Closes sockets when more are open than there is room for. */
export interface Relief {
  room(): number;
  /** Closes some sockets, now or soon. @param sockets how many are open. */
  relieve(sockets: number): void;
}

export class SocketPool {
  readonly timers: Timers;
  /** What all listeners accept in a turn of the loop. */
  readonly turns = new AcceptTurns();
  /** How many descriptors this process may have. */
  readonly openFiles = openFileLimit();
  /** Closes sockets when there are too many. */
  relief: Relief | null = null;
  readonly #onFault: (error: unknown) => void;
  #sockets = 0;
  #isReliefDue = false;

  /** @param onFault gets each uncaught error: a fault of the program, which ends at most one connection. */
  constructor(timers: Timers, onFault: (error: unknown) => void) {
    this.timers = timers;
    this.#onFault = onFault;
  }

  /** The count of open sockets. */
  get sockets(): number {
    return this.#sockets;
  }

  /** Counts a socket, before the runtime accepts the next socket. */
  opened(): void {
    this.#sockets += 1;
    if (this.#isReliefDue || this.relief === null || this.#sockets <= this.relief.room()) return;
    this.#isReliefDue = true;
    // The new socket gets its owner first.
    queueMicrotask(() => this.attempt(() => this.#relieve()));
  }

  closed(): void {
    this.#sockets -= 1;
  }

  /** Runs an action and reports its error. @returns whether it threw none. */
  attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.#onFault(error);
      return false;
    }
  }

  #relieve(): void {
    this.#isReliefDue = false;
    if (this.relief === null || this.#sockets <= this.relief.room()) return;
    this.relief.relieve(this.#sockets);
  }
}

// The turns of the runtime's loop, and how many clients the listeners accept in each. The runtime asks the kernel for the
// next client until none waits, so a flood that arrives as fast as it is accepted would hold up everything else that the
// gateway does. A login takes several turns, so it waits several times for what the loop does in a turn.

/**
 * The most clients of one listener. To stop a listener and begin another takes some 7 us, of 23 us for a client in all;
 * with more clients in a turn, the logins of others in a flood took longer (`bench/floods`).
 */
const MOST_OF_A_LISTENER = 2;
/** When all listeners have accepted so many clients in a turn, each of them accepts at most one more. */
const MOST_OF_ALL = 32;

export class AcceptTurns {
  #number = 0;
  #accepted = 0;
  readonly #ending: (() => void)[] = [];

  /** The number of the present turn. */
  get number(): number {
    return this.#number;
  }

  /** Counts a client. @returns how many clients its listener may have accepted in this turn, with this one. */
  accepted(): number {
    if (this.#accepted === 0) setImmediate(() => this.#end());
    this.#accepted += 1;
    return this.#accepted < MOST_OF_ALL ? MOST_OF_A_LISTENER : 1;
  }

  /** Calls `action` at the end of the present turn, in which a client was accepted. */
  atEnd(action: () => void): void {
    this.#ending.push(action);
  }

  #end(): void {
    this.#number += 1;
    this.#accepted = 0;
    for (const action of this.#ending.splice(0)) action();
  }
}

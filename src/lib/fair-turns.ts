// Lets networks begin work one after the other when more of it arrives than a turn of the runtime's loop should take:
// the runtime begins all requests that have arrived before it does anything else, so a flood of one network would hold
// up the requests of all others.

/** What may begin in a turn of the loop: some 2 ms of requests. */
const MOST_IN_A_TURN = 16;

/** How much of a line may have begun before it is forgotten. */
const COMPACTED_AT = 1_024;

/** The work of a network that waits, first come first. */
class Line {
  #waiting: (() => void)[] = [];
  #next = 0;

  join(begin: () => void): void {
    this.#waiting.push(begin);
  }

  /** Begins the first. @returns whether others wait. */
  step(): boolean {
    this.#waiting[this.#next]?.();
    this.#next += 1;
    if (this.#next >= COMPACTED_AT) this.#compact();
    return this.#next < this.#waiting.length;
  }

  /** Forgets what has begun, which a line that never empties would keep. */
  #compact(): void {
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}

export class FairTurns {
  readonly #most: number;
  readonly #lines = new Map<string, Line>();
  #begun = 0;
  #isDue = false;

  constructor(most = MOST_IN_A_TURN) {
    this.#most = most;
  }

  /** @returns null when the work may begin now, or else what to wait for. */
  take(network: string): Promise<void> | null {
    this.#endTurnSoon();
    const line = this.#lines.get(network);
    if (line === undefined && this.#begun < this.#most) {
      this.#begun += 1;
      return null;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const joined = line ?? new Line();
    joined.join(resolve);
    if (line === undefined) this.#lines.set(network, joined);
    return promise;
  }

  #endTurnSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isDue = false;
    this.#begun = 0;
    for (const [network, line] of this.#lines) {
      if (this.#begun === this.#most) break;
      this.#begun += 1;
      // The loop comes to this network again after all others.
      this.#lines.delete(network);
      if (line.step()) this.#lines.set(network, line);
    }
    if (this.#begun > 0) this.#endTurnSoon();
  }
}

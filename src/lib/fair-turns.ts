// Lets work begin in turn when more of it arrives than a turn of the runtime's loop should take: the runtime begins all
// requests that have arrived before it does anything else, so a flood would hold up all other requests. Networks come one
// after the other, and within a network its clients, by their credentials: behind a proxy all clients have one network,
// and a client that invents credentials gains nothing over other networks.

/** What may begin in a turn of the loop: some 2 ms of requests. */
const MOST_IN_A_TURN = 16;

/** How much of a queue may have begun before it is forgotten. */
const COMPACTED_AT = 1_024;

/** The work of a client that waits, first come first. */
class Queue {
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

  /** Forgets what has begun, which a queue that never empties would keep. */
  #compact(): void {
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}

/** The work of a network that waits, its clients in turn. */
class Line {
  readonly #queues = new Map<string, Queue>();

  join(client: string, begin: () => void): void {
    const queue = this.#queues.get(client) ?? new Queue();
    queue.join(begin);
    this.#queues.set(client, queue);
  }

  /** Begins the first work of the next client. @returns whether other work waits. */
  step(): boolean {
    for (const [client, queue] of this.#queues) {
      // The line comes to this client again after all others.
      this.#queues.delete(client);
      if (queue.step()) this.#queues.set(client, queue);
      break;
    }
    return this.#queues.size > 0;
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

  /**
   * @param client the credentials, which distinguish the clients of a network; empty without credentials.
   * @returns null when the work may begin now, or else what to wait for.
   */
  take(network: string, client = ""): Promise<void> | null {
    this.#endTurnSoon();
    const line = this.#lines.get(network);
    if (line === undefined && this.#begun < this.#most) {
      this.#begun += 1;
      return null;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const joined = line ?? new Line();
    joined.join(client, resolve);
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

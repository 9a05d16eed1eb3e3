// Things to be done later, by the loop's own clock: a heap with the next one on top.

/** Something that is to happen once; `cancel` may be called at any time. */
export interface Timer {
  cancel(): void;
}

interface Entry {
  atMs: number;
  /** Null when it was cancelled; it leaves the heap when it comes to the top. */
  action: (() => void) | null;
}

/** What the system call that waits can be told (epoll_wait(2) takes an int). */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** When the heap has at least so many cancelled entries, and they are the most of it, it is made anew. */
const LEAST_CANCELLED_TO_SWEEP = 1_024;

export class Timers {
  readonly #heap: Entry[] = [];
  /** The time by which they go, in milliseconds that never go back. */
  readonly now: () => number;
  #cancelled = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  /** How many it holds, with those that were cancelled and not dropped yet. */
  get size(): number {
    return this.#heap.length;
  }

  after(delayMs: number, action: () => void): Timer {
    const entry: Entry = { atMs: this.now() + delayMs, action };
    this.#push(entry);
    return {
      cancel: () => {
        if (entry.action === null) return;
        entry.action = null;
        this.#cancelled += 1;
        this.#sweep();
      },
    };
  }

  /** Milliseconds until the next one is due, rounded up; -1 when there is none. */
  untilNextMs(): number {
    this.#dropCancelled();
    const [next] = this.#heap;
    if (next === undefined) return -1;
    return Math.min(LONGEST_WAIT_MS, Math.max(0, Math.ceil(next.atMs - this.now())));
  }

  /** Does all that is due. What throws is not done again, and what is due after it is left for the next time. */
  run(): void {
    const now = this.now();
    for (;;) {
      this.#dropCancelled();
      const [next] = this.#heap;
      if (next === undefined || next.atMs > now) return;
      this.#pop();
      const { action } = next;
      next.action = null;
      action?.();
    }
  }

  #dropCancelled(): void {
    while (this.#heap.length > 0 && this.#heap[0]?.action === null) {
      this.#pop();
      this.#cancelled -= 1;
    }
  }

  #sweep(): void {
    if (this.#cancelled < LEAST_CANCELLED_TO_SWEEP || this.#cancelled * 2 < this.#heap.length) return;
    // In order, an array is a heap.
    const kept = this.#heap.filter(({ action }) => action !== null).sort((a, b) => a.atMs - b.atMs);
    this.#heap.splice(0, this.#heap.length, ...kept);
    this.#cancelled = 0;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let place = heap.push(entry) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.atMs <= entry.atMs) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && at(heap, below + 1) < at(heap, below)) below += 1;
      const child = heap[below];
      if (child === undefined || child.atMs >= last.atMs) break;
      heap[place] = child;
      place = below;
    }
    heap[place] = last;
  }
}

function at(heap: Entry[], place: number): number {
  return heap[place]?.atMs ?? Infinity;
}

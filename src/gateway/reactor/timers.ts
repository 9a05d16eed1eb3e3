// Timers by the loop's own clock: a heap with the next timer on top.

/** An action that runs once; `cancel` may be called at any time. */
export interface Timer {
  cancel(): void;
}

interface Entry {
  atMs: number;
  /** Null when cancelled; a cancelled entry leaves the heap when it comes to the top. */
  action: (() => void) | null;
}

/** The longest wait that epoll_wait(2) accepts: it takes an int. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** With at least so many cancelled entries, if they are at least half of the heap, the heap is rebuilt. */
const LEAST_CANCELLED_TO_SWEEP = 1_024;

export class Timers {
  readonly #heap: Entry[] = [];
  /** The clock, in milliseconds that never go back. */
  readonly now: () => number;
  #cancelled = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  /** The count of entries, with the cancelled entries that are still in the heap. */
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

  /** Milliseconds until the next timer is due, rounded up; -1 without timers. */
  untilNextMs(): number {
    this.#dropCancelled();
    const [next] = this.#heap;
    if (next === undefined) return -1;
    return Math.min(LONGEST_WAIT_MS, Math.max(0, Math.ceil(next.atMs - this.now())));
  }

  /** Runs all due timers. A timer that throws is not run again; the due timers after it stay for the next call. */
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
    // A sorted array is a heap.
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

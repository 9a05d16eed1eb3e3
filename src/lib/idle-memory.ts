// Gives the memory of past work back to the machine, when a process that lives long has nothing to do any more.

/** How often the use of the processor is looked at. */
const LOOK_INTERVAL_MS = 30_000;

/** The shares of one processor from which a process has worked, and below which it is idle. */
const [WORKING, IDLE] = [0.05, 0.03];

/** Code that is needed again and again is not dropped again and again. */
const LEAST_PAUSE_MS = 10 * 60_000;

/** What is looked at, and what is done. */
interface IdleMemoryParts {
  /** The processor time of the process so far. */
  cpuMs(): number;
  nowMs(): number;
  release(): void;
}

export class IdleMemory {
  readonly #parts: IdleMemoryParts;
  #last: { cpuMs: number; nowMs: number };
  #hasWorked = false;
  #nextMs: number;

  constructor(parts: IdleMemoryParts) {
    this.#parts = parts;
    this.#last = { cpuMs: parts.cpuMs(), nowMs: parts.nowMs() };
    this.#nextMs = this.#last.nowMs;
  }

  /** Gives back if the process has worked since it last did so, and was idle since the look before. */
  look(): void {
    const now = { cpuMs: this.#parts.cpuMs(), nowMs: this.#parts.nowMs() };
    const share = (now.cpuMs - this.#last.cpuMs) / (now.nowMs - this.#last.nowMs);
    this.#last = now;
    if (share >= WORKING) this.#hasWorked = true;
    if (!this.#hasWorked || share >= IDLE || now.nowMs < this.#nextMs) return;
    this.#hasWorked = false;
    this.#nextMs = now.nowMs + LEAST_PAUSE_MS;
    this.#parts.release();
  }
}

/**
 * Gives all memory back after work that a process can do without, compiled code too, as long as the process lives. The
 * process stops for some milliseconds, and compiles its code anew when it is needed next: no process on the way of a
 * wake may do this.
 */
export function shrinkWhenIdle(): void {
  lookForEver(() => Bun.shrink());
}

/** Gives the garbage of work back, as long as the process lives. The process stops for some milliseconds each time. */
export function collectWhenIdle(): void {
  lookForEver(() => Bun.gc(true));
}

function lookForEver(release: () => void): void {
  const memory = new IdleMemory({
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    nowMs: () => performance.now(),
    release,
  });
  setInterval(() => memory.look(), LOOK_INTERVAL_MS).unref();
}

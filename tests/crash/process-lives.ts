// Observes the processes of an instance from outside, as the truth about the time in which its engine had a process.
import { startedAt } from "../../src/host/os/process-times.ts";
import type { TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";

/** The kernel counts starts in hundredths of a second, and Pilvi learns of an end within some milliseconds. */
const TOLERANCE_MS = 150;

/** The life of a process: it had ended after `mostMs` and was seen alive after `leastMs`, which a busy machine keeps apart. */
interface ProcessLife {
  leastMs: number;
  mostMs: number;
}

/** Observes from outside when engines of an instance begin and end. */
export class ProcessLives {
  readonly ended: ProcessLife[] = [];
  /** When each living process began, and when it was last seen alive. */
  readonly #alive = new Map<number, { beganMs: number; seenMs: number }>();
  readonly #timers: ReturnType<typeof setInterval>[];

  constructor(pilvi: TestPilvi, id: string) {
    this.#timers = [
      setInterval(() => {
        for (const pid of pilvi.enginePids(id).slice(0, 1)) {
          const beganMs = startedAt(pid)?.getTime();
          if (beganMs === undefined || this.#alive.has(pid)) continue;
          this.#alive.set(pid, { beganMs, seenMs: beganMs });
        }
      }, 20),
      setInterval(() => this.#look(), 2),
    ];
  }

  get isAnyAlive(): boolean {
    return this.#alive.size > 0;
  }

  /** The least and the most that all lives together may have lasted by what Pilvi can know, in milliseconds. */
  get bounds(): ProcessLife {
    const tolerance = TOLERANCE_MS * this.ended.length;
    return {
      leastMs: this.ended.reduce((all, { leastMs }) => all + leastMs, 0) - tolerance,
      mostMs: this.ended.reduce((all, { mostMs }) => all + mostMs, 0) + tolerance,
    };
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #look(): void {
    for (const [pid, { beganMs, seenMs }] of this.#alive) {
      const nowMs = Date.now();
      if (isAlive(pid)) {
        this.#alive.set(pid, { beganMs, seenMs: nowMs });
        continue;
      }
      this.#alive.delete(pid);
      this.ended.push({ leastMs: seenMs - beganMs, mostMs: Date.now() - beganMs });
    }
  }
}

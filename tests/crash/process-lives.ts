// Observes the processes of an instance from outside, as the truth about the time in which its engine had a process.
import { startedAt } from "../../src/host/os/process-times.ts";
import type { TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";

/** The kernel counts starts in hundredths of a second, and both sides poll every few milliseconds on a busy machine. */
export const TOLERANCE_MS = 150;

/** Observes from outside when engines of an instance begin and end. */
export class ProcessLives {
  readonly ended: { pid: number; ms: number }[] = [];
  readonly #alive = new Map<number, number>();
  readonly #timers: ReturnType<typeof setInterval>[];

  constructor(pilvi: TestPilvi, id: string) {
    this.#timers = [
      setInterval(() => {
        for (const pid of pilvi.enginePids(id).slice(0, 1)) {
          const began = startedAt(pid)?.getTime();
          if (began !== undefined && !this.#alive.has(pid)) this.#alive.set(pid, began);
        }
      }, 20),
      setInterval(() => {
        for (const [pid, began] of this.#alive) {
          if (isAlive(pid)) continue;
          this.#alive.delete(pid);
          this.ended.push({ pid, ms: Date.now() - began });
        }
      }, 2),
    ];
  }

  get isAnyAlive(): boolean {
    return this.#alive.size > 0;
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}

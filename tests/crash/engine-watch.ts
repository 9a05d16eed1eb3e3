// Watches all the time whether an instance ever has two engines at once.
import { type TestPilvi } from "../support/pilvi/pilvi.ts";
import { parentOf } from "../support/pilvi/processes.ts";

const LOOK_INTERVAL_MS = 50;

export class EngineWatch {
  readonly #pilvi: TestPilvi;
  readonly #ids: string[];
  readonly #timer: ReturnType<typeof setInterval>;
  /**
   * Pairs at the latest look. A pair counts when two looks find it: a process that was just forked, or whose parent was
   * just killed, resembles a second engine for a moment.
   */
  #suspects = new Set<string>();
  /** Instances with the engines that they had at the same time. */
  readonly #found: string[] = [];
  #looks = 0;

  constructor(pilvi: TestPilvi, ids: string[]) {
    this.#pilvi = pilvi;
    this.#ids = ids;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  /** Ends the watch. @returns the pairs that should not have existed. */
  stop(): string[] {
    clearInterval(this.#timer);
    if (this.#looks === 0) throw new Error("nobody looked");
    return this.#found;
  }

  #look(): void {
    this.#looks += 1;
    const seen = new Set<string>();
    for (const id of this.#ids) {
      const pids = this.#pilvi.enginePids(id);
      const engines = pids.filter((pid) => !pids.includes(parentOf(pid)));
      if (engines.length > 1) seen.add(`${id}: ${engines.join()}`);
    }
    this.#found.push(...[...seen].filter((pair) => this.#suspects.has(pair)));
    this.#suspects = seen;
  }
}

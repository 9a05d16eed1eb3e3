// Notices that the kernel killed a process of an instance for lack of memory, and notifies the owner.
import { readFileSync } from "node:fs";
import type { Condition } from "../manifest/instance-state.ts";
import type { EngineRunner } from "./runner.ts";

/** The kernel counts here every process of the machine that it killed for lack of memory. */
const KERNEL_FIGURES = "/proc/vmstat";

/** The parts that the memory watch reads from and reports to. */
export interface OutOfMemoryParts {
  runner: Pick<EngineRunner, "oomKills" | "runnable">;
  condition: Condition;
}

export class OutOfMemoryWatch {
  readonly #parts: OutOfMemoryParts;
  #seen = 0;

  constructor(parts: OutOfMemoryParts) {
    this.#parts = parts;
  }

  /** Reports kills since the last look. @returns whether there were any. */
  look(): boolean {
    const { runner, condition } = this.#parts;
    const kills = runner.oomKills();
    const hasNew = kills > this.#seen;
    this.#seen = kills;
    // The counter restarts at every stop, so an instance without kills has no overuse to show.
    if (kills === 0) condition.overuse = null;
    if (hasNew) condition.exceed(sentence(runner.runnable?.context.limits));
    return hasNew;
  }
}

/** Counts the kills for lack of memory on the whole machine, so that no instance is examined while there are none. */
export class OomCounter {
  #count = killsOfMachine();

  /** Whether the count has changed since the last call. */
  hasRisen(): boolean {
    const before = this.#count;
    this.#count = killsOfMachine();
    return this.#count !== before;
  }
}

function killsOfMachine(): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync(KERNEL_FIGURES, "utf8"))?.[1] ?? 0);
}

function sentence(limits: { memoryBytes: number; totalMemoryBytes?: number } | undefined): string {
  const bytes = limits?.totalMemoryBytes ?? limits?.memoryBytes;
  const most = bytes === undefined ? "" : ` It may take ${Math.floor(bytes / 1024 ** 2)} MiB in all.`;
  return `Out of memory at ${new Date().toISOString()}: what took most was ended, and the engine started again.${most}`;
}

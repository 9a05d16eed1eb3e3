// Notices that the kernel ended a process of an instance for want of memory, and says so to its owner.
import { readFileSync } from "node:fs";
import type { Condition } from "../manifest/instance-state.ts";
import type { EngineRunner } from "./runner.ts";

/** What every process that the kernel ends for want of memory is counted in, whoever it belonged to. */
const KERNEL_FIGURES = "/proc/vmstat";

/** What overuse is read from and told to. */
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

  /** Tells of what was ended since the last look. @returns whether something was. */
  look(): boolean {
    const { runner, condition } = this.#parts;
    const kills = runner.oomKills();
    const hasNew = kills > this.#seen;
    this.#seen = kills;
    // An instance that was stopped since has nothing to answer for any more.
    if (kills === 0) condition.overuse = null;
    if (hasNew) condition.exceed(sentence(runner.runnable?.context.limits));
    return hasNew;
  }
}

/** Counts processes that were ended for want of memory on the whole machine, so that nobody is asked as long as there are none. */
export class OomCounter {
  #count = killsOfMachine();

  /** Whether there were any since the last time. */
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

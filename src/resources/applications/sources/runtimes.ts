// The runtimes that a host offers to applications.
import type { AvailableRuntimes } from "../../../contracts/plan.ts";
import type { Offer } from "../../../contracts/host-answers.ts";

const NONE: AvailableRuntimes = { node: [], bun: [], deno: [], php: [], python: [] };

/** The versions of all runtimes; a driver that runs no applications offers none. */
export function availableRuntimes({ runtimes = NONE }: Offer): AvailableRuntimes {
  return runtimes;
}

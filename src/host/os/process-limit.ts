// Without cgroups, each process of an engine gets the memory limit of the whole engine.
import { existsSync } from "node:fs";
import type { Limits } from "../../contracts/observation.ts";

/** A process may always lower its own limits, so this needs no rights. */
const PRLIMIT = "/usr/bin/prlimit";

/** Whether this machine can limit the memory of processes. */
export function canLimitProcesses(): boolean {
  return existsSync(PRLIMIT);
}

/** The prefix of a command that applies the limits to it and to its children. */
export function processLimitPrefix({ enforcedBy, memoryBytes, totalMemoryBytes }: Limits): string[] {
  return enforcedBy === "rlimit" ? [PRLIMIT, `--data=${totalMemoryBytes ?? memoryBytes}`] : [];
}

// Where there are no cgroups, each process of an engine is held to what all of them may have together.
import { existsSync } from "node:fs";
import type { Limits } from "../../drivers/driver.ts";

/** A process may always lower its own limits, so this needs no rights. */
const PRLIMIT = "/usr/bin/prlimit";

/** Whether processes can be held to their memory here. */
export function canLimitProcesses(): boolean {
  return existsSync(PRLIMIT);
}

/** What to put before a command, so that it and all that it starts are held to the limits. */
export function processLimitPrefix({ enforcedBy, memoryBytes, totalMemoryBytes }: Limits): string[] {
  return enforcedBy === "rlimit" ? [PRLIMIT, `--data=${totalMemoryBytes ?? memoryBytes}`] : [];
}

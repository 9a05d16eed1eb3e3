// Deletes old segments of an environment's log: by age, and by size those of the edge before all others.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { segmentsOf, type Segment } from "./chain.ts";

const DAY_MS = 86_400_000;

export interface LogRetention {
  days: number;
  /** Of one environment, on the disk. */
  bytes: number;
}

export const DEFAULT_RETENTION: LogRetention = { days: 7, bytes: 256 * 1024 ** 2 };

/** Keeps the log in a folder within its bounds; the newest segments always stay. */
export function retain(folder: string, { days, bytes }: LogRetention, nowMs: number): void {
  const [processes, edge] = [segmentsOf(folder, "a"), segmentsOf(folder, "x")];
  const oldest = nowMs - days * DAY_MS;
  const total = [...processes, ...edge].reduce((sum, segment) => sum + segment.bytes, 0);
  let excess = total - bytes;
  for (const segments of [edge, processes])
    for (const [index, segment] of segments.slice(0, -1).entries()) {
      const endMs = endOf(segments, index, nowMs);
      if (excess <= 0 && endMs >= oldest) break;
      remove(segment);
      excess -= segment.bytes;
    }
}

/** When a segment was finished. Times at which the clock was ahead say nothing of that. */
function endOf(segments: readonly Segment[], index: number, nowMs: number): number {
  for (const { startMs, formerMs = startMs } of segments.slice(index + 1)) {
    const known = [formerMs, startMs].find((ms) => ms <= nowMs);
    if (known !== undefined) return known;
  }
  return nowMs;
}

function remove({ path, isCompressed }: Segment): void {
  rmSync(path, { force: true });
  // A kill may have left the compressed file beside the other.
  if (!isCompressed) rmSync(`${path}.zst`, { force: true });
}

/** The ids of the environments that have a log. */
export function loggedEnvironments(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The folder of an environment's log. */
export function logFolder(folder: string, environment: string): string {
  return join(folder, environment);
}

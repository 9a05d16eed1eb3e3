// Leaves files of a MariaDB's log out of a plan that were begun after its instant.
import type { RestorePlan } from "../../contracts/keeper.ts";
import { startOfFile } from "../../lib/binary-log.ts";
import { placeOf, positionIn } from "./binlog-chain.ts";
import { microsecondsOf } from "./instant.ts";
import { lsnText } from "./segment.ts";

const SECOND = 1_000_000;

/**
 * Cuts a plan after the beginning of the first file that was begun at the second of the instant or later: that
 * beginning proves that all before it is there. A few segments are read to find it.
 * @throws what `read` throws.
 */
export async function trimmedBinlogPlan(
  plan: RestorePlan,
  segmentBytes: number,
  read: (name: string) => Promise<Uint8Array>,
): Promise<RestorePlan> {
  if (plan.recovery.kind !== "time") return plan;
  const second = Math.floor(microsecondsOf(plan.recovery.at) / SECOND);
  const starts = plan.segments.flatMap(({ name }, index) => {
    const place = placeOf(name, segmentBytes);
    return place?.index === 0 ? [{ name, index, file: place.file }] : [];
  });
  // The first file has the backup's position, so it was begun before.
  let [low, high] = [1, starts.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const begunAt = startOfFile(await read(starts[middle]?.name ?? ""));
    if (begunAt !== null && begunAt >= second) high = middle;
    else low = middle + 1;
  }
  const first = starts[low];
  if (first === undefined) return plan;
  const segments = plan.segments.slice(0, first.index + 1);
  const totalBytes = plan.backup.plainBytes + segments.length * segmentBytes;
  const mustReachLsn = lsnText(positionIn(first.file, 0));
  return { ...plan, recovery: { ...plan.recovery, mustReachLsn }, segments, totalBytes };
}

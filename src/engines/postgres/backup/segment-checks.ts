// Checks the segments of a restore: that none is missing, and that each is what its name says.
import { lchownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { RestoreFault } from "../../backup.ts";
import type { Account } from "../../engine.ts";
import { readStart, type ControlFile } from "../control-file.ts";
import { timelineAt, type Lineage } from "./lineage.ts";
import { parseLsn, segmentName, segmentNumber } from "./lsn.ts";
import type { PostgresFacts } from "./unpacked-data.ts";

/** Where members of struct XLogLongPageHeaderData are. */
const AT = { info: 2, timeline: 4, address: 8, systemId: 24, segmentBytes: 32 };
const HEADER_BYTES = 40;
/** `XLP_LONG_HEADER`: the page is the first of its segment. */
const LONG_HEADER = 0x2;

/**
 * Checks the segments from the first to the one with the byte before `endLsn`.
 * @throws RestoreFault that names the first segment that is missing or wrong.
 */
export function checkSegments(
  folder: string,
  facts: PostgresFacts,
  control: ControlFile,
  { endLsn, lineage }: { endLsn: string; lineage: Lineage },
): void {
  const { segmentBytes } = facts;
  const [start, end] = [parseLsn(facts.startLsn), parseLsn(endLsn)];
  const last = segmentNumber(end > start ? end - 1n : start, segmentBytes);
  for (let number = segmentNumber(start, segmentBytes); number <= last; number += 1n) {
    const timeline = timelineAt(lineage, number, segmentBytes);
    const name = segmentName(timeline, number, segmentBytes);
    const fault = faultOf(join(folder, name), number, { segmentBytes, timeline }, control);
    if (fault !== null)
      throw new RestoreFault(`The log of the database cannot be replayed: its segment ${name} ${fault}.`);
  }
}

/** Gives all files of the log to the user of the data; a link itself is given, never its target. */
export function giveLog(folder: string, account: Account | null): void {
  if (account === null) return;
  for (const name of readdirSync(folder)) lchownSync(join(folder, name), account.uid, account.gid);
}

/** The end of a sentence that begins with the segment; null for a segment that is what its name says. */
function faultOf(
  path: string,
  number: bigint,
  { segmentBytes, timeline }: Pick<PostgresFacts, "segmentBytes" | "timeline">,
  { systemId }: ControlFile,
): string | null {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry?.isFile() !== true) return "is missing";
  if (entry.size !== segmentBytes) return `has ${entry.size} bytes in place of ${segmentBytes}`;
  const header = readStart(path, HEADER_BYTES);
  if ((header.readUInt16LE(AT.info) & LONG_HEADER) === 0) return "does not begin as a segment does";
  if (header.readBigUInt64LE(AT.address) !== number * BigInt(segmentBytes)) return "is another segment";
  // The first segment of a timeline begins with the end of the timeline before.
  if (header.readUInt32LE(AT.timeline) > timeline) return "is of a later timeline";
  if (header.readBigUInt64LE(AT.systemId) !== systemId) return "is of another cluster";
  return header.readUInt32LE(AT.segmentBytes) === segmentBytes ? null : "has another size of segments";
}

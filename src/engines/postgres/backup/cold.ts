// The copy of a stopped Postgres: its data, and the end of its log, with the checkpoint that a start begins from.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import { NeedsRecovery, type ColdCopy } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { readControlFile, segmentBytesOf } from "../control-file.ts";
import { copyOfData, copyOfLog, NOT_COPIED } from "./copy.ts";
import { lsnText, segmentName, segmentNumber } from "./lsn.ts";

/** See `EngineBackup.cold`. @throws NeedsRecovery when the data was not left by a clean end. */
export async function coldCopy({ paths }: EngineContext<PostgresSpec>): Promise<ColdCopy> {
  const control = readControlFile(paths.dataDir);
  if (control === null) throw new PublicError("There is no data to back up yet.");
  if (!control.isShutDown)
    throw new NeedsRecovery("The cluster did not end cleanly, so it must run before it can be backed up.");
  const { timeline } = control;
  const segmentBytes = segmentBytesOf(control);
  const number = segmentNumber(control.redo, segmentBytes);
  const [startSegment, next] = [0n, 1n].map((step) => segmentName(timeline, number + step, segmentBytes));
  if (startSegment === undefined || next === undefined) throw new Error("no segment has a name");
  // The checkpoint may begin at the end of a segment and go on in the next.
  const names = [startSegment, next].filter((name) => existsSync(join(paths.dataDir, "pg_wal", name)));
  const otherSegments = readdirSync(join(paths.dataDir, "pg_wal")).filter((name) => !names.includes(name));
  const at = new Date().toISOString();
  const checkpoint = lsnText(control.checkpoint);
  return {
    leftOut: NOT_COPIED,
    leftOutPaths: otherSegments.map((name) => join("pg_wal", name)),
    copies: [copyOfData(paths.dataDir), copyOfLog(paths.dataDir, names)],
    facts: {
      format: "tar",
      startedAt: at,
      completedAt: at,
      postgres: {
        timeline,
        startLsn: lsnText(control.redo),
        endLsn: checkpoint,
        startSegment,
        segmentBytes,
        label: null,
        checkpointLsn: checkpoint,
      },
    },
  };
}

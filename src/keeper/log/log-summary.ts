// What a state shows of all segments of a log, worked out anew only when it may have changed.
import type { BackupInfo, LogState } from "../../contracts/keeper.ts";
import { firstSegmentOf, gapsOf, type LogCatalog } from "./chain.ts";
import { byCompletion, earliestRestoreTime, restorableFrom } from "./plan.ts";

interface Summary extends Pick<LogState, "gaps" | "earliestRestoreTime"> {
  firstSegment: string | null;
}

export class LogSummary {
  /** What the summary is of. */
  #subject: unknown[] = [];
  #summary: Summary | null = null;
  /** Whether the earliest instant is that of the oldest backup, so that more pieces cannot change it. */
  #isFinal = false;

  /**
   * The oldest segment, the gaps and the earliest instant that can be restored.
   * @param version another number when other objects are in the archive, but for pieces that go on with a segment.
   */
  of(log: LogCatalog, backups: BackupInfo[], version: number): Summary {
    const subject = [version, log.format, log.segmentBytes, log.watermark?.segment, ...backups];
    const known = this.#knownOf(subject);
    if (known !== null && this.#isFinal) return known;
    const { gaps, firstSegment } = known ?? { gaps: gapsOf(log), firstSegment: firstSegmentOf(log) };
    const earliest = earliestRestoreTime({ backups, log });
    const [oldest] = byCompletion(backups);
    this.#isFinal = oldest === undefined || earliest === restorableFrom(oldest);
    this.#subject = subject;
    this.#summary = { gaps, firstSegment, earliestRestoreTime: earliest };
    return this.#summary;
  }

  #knownOf(subject: unknown[]): Summary | null {
    const isSame = subject.length === this.#subject.length;
    return isSame && subject.every((each, index) => each === this.#subject[index]) ? this.#summary : null;
  }
}

// What all kinds of logs have in common on their way to their archive.
import type { Watermark } from "../../contracts/keeper.ts";

/** So many pieces become a single new one. */
export const MAX_PIECES = 32;

/** The watermark is an object of its own this often only; meanwhile pieces have it in their names. */
export const OWN_WATERMARK_MS = 10_000;

/** `more`: the next segment can be read. `end`: all is shipped. `unsettled`: a page is just being written. */
export type Step = "more" | "end" | "unsettled";

/** A log that is shipped pass by pass. */
export interface Shipping {
  /** How far the log is in the archive; newer than the archive's own watermark while the log is idle. */
  readonly watermark: Watermark | null;
  /** A sentence about damage of the source that was passed over; null without any. */
  readonly damage: string | null;
  /**
   * Ships what is new, but no more than some segments.
   * @throws when the folder cannot be read or the target fails; the next pass goes on from there.
   */
  pass(path: string, maxSegments: number): Promise<Step>;
}

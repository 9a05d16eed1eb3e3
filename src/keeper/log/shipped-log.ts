// One log on its way to its archive: a pass ships what Postgres has written since the pass before.
import { crc32 } from "node:zlib";
import { failpoint } from "../../lib/failpoint.ts";
import type { Watermark } from "../../contracts/keeper.ts";
import type { LogArchive } from "./log-archive.ts";
import { LogFolder } from "./log-folder.ts";
import { damagedSource, positionAt, resume, type Position } from "./position.ts";
import { lsnText, parseHistoryName, parseSegmentName, segmentName, type Segment } from "./segment.ts";
import { MAX_PIECES, OWN_WATERMARK_MS, type Shipping, type Step } from "./shipping.ts";
import {
  cursorAfter,
  firstWritten,
  isComplete,
  isWritten,
  joined,
  lastWritten,
  readFrom,
  sourceOf,
  type Source,
  type SourceRead,
} from "./source.ts";

/** A segment that stays unreadable for so many passes, with a newer one behind it, is damaged. */
const MAX_BROKEN_PASSES = 3;

export class ShippedLog implements Shipping {
  readonly archive: LogArchive;
  readonly #segmentBytes: number;
  #position: Position | null = null;
  /** How far the log has to be shipped for a watermark, when a single pass is not enough. */
  #goal: { at: number; number: number } | null = null;
  #watermark: Watermark | null = null;
  /** Whether the latest pass shipped something. */
  #hasMoved = false;
  #damage: string | null = null;

  constructor(archive: LogArchive, segmentBytes: number) {
    this.archive = archive;
    this.#segmentBytes = segmentBytes;
  }

  /** How far the log is in the archive; newer than the archive's own watermark while the log is idle. */
  get watermark(): Watermark | null {
    return this.#watermark ?? this.archive.watermark;
  }

  /** A sentence about damage of the source that was passed over. */
  get damage(): string | null {
    return this.#damage;
  }

  /**
   * Ships what is new, but no more than some segments.
   * @throws when the folder cannot be read or the target fails; the next pass goes on from there.
   */
  async pass(path: string, maxSegments: number): Promise<Step> {
    const at = Date.now();
    await this.archive.load();
    const folder = LogFolder.open(path);
    try {
      const source = sourceOf(folder, this.#segmentBytes);
      await this.#shipHistories(source);
      this.#position ??= await resume(this.archive, source);
      if (this.#position === null) return "end";
      let step: Step = "more";
      for (let count = 0; step === "more" && count < maxSegments; count += 1) {
        step = await this.#ship(source, this.#position, at);
      }
      await this.#mark(source, at, step);
      return step;
    } finally {
      folder.close();
    }
  }

  /** Ships what is new in one segment. @param at when the pass has begun. */
  async #ship(source: Source, position: Position, at: number): Promise<Step> {
    const { segment } = position;
    if (position.pieceCount >= MAX_PIECES) beginGeneration(position);
    const read = await readFrom(source, segment, position.proved);
    if (read === null) return await this.#leave(source, position);
    if (await isComplete(source, segment, read.records)) return await this.#shipWhole(source, position, read);
    if (await isLeftBehind(source, position, read)) return await this.#shipOrSkip(source, position);
    await this.#shipPiece(source, position, read, at);
    if (await this.#moveToNewerTimeline(source, segment)) return "more";
    if (read.records.outcome === "broken") return "unsettled";
    position.brokenPasses = 0;
    return "end";
  }

  /** The segment may have been completed after it was read, or it is damaged. */
  async #shipOrSkip(source: Source, position: Position): Promise<Step> {
    const { segment } = position;
    const read = await readFrom(source, segment, position.start);
    if (read !== null && (await isComplete(source, segment, read.records))) {
      return await this.#shipWhole(source, position, read);
    }
    position.brokenPasses += 1;
    if (position.brokenPasses < MAX_BROKEN_PASSES) return "unsettled";
    this.#damage = damagedSource(segment, this.#segmentBytes, read?.records.proved.position ?? 0);
    this.#position = positionAt(this.archive, source, { ...segment, number: segment.number + 1 });
    return "more";
  }

  async #shipWhole(source: Source, position: Position, read: SourceRead): Promise<Step> {
    const { segment } = position;
    const whole = await wholeOf(source, position, read);
    if (whole === null) return "unsettled";
    const name = segmentName(segment, this.#segmentBytes);
    await this.archive.putSegment(name, whole.bytes);
    await failpoint("keeper.log.segment");
    if (position.revokes) await this.#revoke(source, segment.number + 1);
    const next = { ...segment, number: segment.number + 1 };
    const cursor = cursorAfter(segment, whole.records, this.#segmentBytes);
    this.#position = positionAt(this.archive, source, next, cursor);
    await this.archive.deletePieces((piece) => piece.segment === name);
    return "more";
  }

  /** Ships the records that were proved: a piece with the new ones, or now and then one with all. */
  async #shipPiece(source: Source, position: Position, read: SourceRead, at: number): Promise<void> {
    const { bytes, base, records } = read;
    const { segment, generation } = position;
    const name = segmentName(segment, this.#segmentBytes);
    const to = records.proved.position - segment.number * this.#segmentBytes;
    if (to > position.shippedBytes) {
      const from = position.shippedBytes;
      const offset = base - segment.number * this.#segmentBytes;
      const shipped = bytes.subarray(from - offset, to - offset);
      const claim = claimOf(source, position, read, at);
      await this.archive.putPiece({ segment: name, generation, from, to }, shipped, claim);
      await failpoint("keeper.log.piece");
      Object.assign(position, {
        shippedBytes: to,
        shippedSum: crc32(shipped, position.shippedSum),
        proved: records.proved,
        pieceCount: position.pieceCount + 1,
      });
      await this.archive.deletePieces((piece) => piece.segment === name && piece.generation !== generation);
    }
    if (position.revokes) await this.#revoke(source, segment.number);
    position.revokes = false;
  }

  /** Deletes what the source has lost: whole segments from a number on, and pieces of later segments. */
  async #revoke(source: Source, from: number): Promise<void> {
    const timeline = this.#position?.segment.timeline;
    const isLost = (name: string, first: number) => {
      const segment = parseSegmentName(name, source.segmentBytes);
      return segment !== null && segment.timeline === timeline && segment.number >= first;
    };
    const lost = [...this.archive.objects.segments].filter((name) => isLost(name, from));
    for (const name of lost) await this.archive.deleteSegment(name);
    await this.archive.deletePieces(({ segment }) => isLost(segment, from + 1));
  }

  /** The segment has no file: Postgres removed it before it was shipped, or the file is not made yet. */
  async #leave(source: Source, { segment }: Position): Promise<Step> {
    const later = await firstWritten(source, segment.timeline, segment.number + 1);
    if (later === null) return (await this.#moveToNewerTimeline(source, segment)) ? "more" : "end";
    this.#position = positionAt(this.archive, source, later);
    return "more";
  }

  async #moveToNewerTimeline(source: Source, { timeline }: Segment): Promise<boolean> {
    const newest = source.segments.at(-1)?.timeline ?? 0;
    const first = newest > timeline ? await firstWritten(source, newest, 0) : null;
    if (first !== null) this.#position = positionAt(this.archive, source, first);
    return first !== null;
  }

  async #shipHistories({ folder, histories }: Source): Promise<void> {
    for (const name of histories) {
      const timeline = parseHistoryName(name);
      if (timeline === null || this.archive.objects.histories.has(timeline)) continue;
      const bytes = await folder.history(name);
      if (bytes !== null) await this.archive.putHistory(timeline, bytes);
    }
  }

  /** Moves the watermark to the start of a pass, once all is shipped that was written by then. */
  async #mark(source: Source, at: number, step: Step): Promise<void> {
    const position = this.#position as Position;
    if (step === "end") {
      this.#goal = null;
      await this.#claim(position, at);
    } else if (this.#goal !== null && position.segment.number > this.#goal.number) {
      const reached = this.#goal.at;
      this.#goal = null;
      await this.#claim(position, reached);
    } else if (step === "more" && this.#goal === null) {
      const newest = await lastWritten(source, position.segment.timeline);
      if (newest !== null) this.#goal = { at, number: newest.number };
    }
  }

  async #claim({ segment, proved, shippedBytes }: Position, at: number): Promise<void> {
    if (proved.lastRecord === null) return;
    const number = shippedBytes > 0 ? segment.number : segment.number - 1;
    const watermark = {
      at: new Date(at).toISOString(),
      segment: segmentName({ ...segment, number }, this.#segmentBytes),
      lsn: lsnText(proved.lastRecord),
    };
    const hasMoved = !isSame(this.#watermark, watermark);
    const storedAt = this.archive.watermarkStoredAt;
    const isOld = storedAt === null || at - Date.parse(storedAt) >= OWN_WATERMARK_MS;
    // The pass that shipped the last change began before it, so the first pass that finds nothing new says so.
    const isSettled = this.#hasMoved && !hasMoved;
    if (isOld || isSettled || !isSame(this.archive.watermark, watermark)) {
      await failpoint("keeper.log.watermark");
      await this.archive.putWatermark(watermark);
    }
    this.#hasMoved = hasMoved;
    this.#watermark = watermark;
  }
}

/** A complete segment with the records of its end; null when it is not complete any more. */
async function wholeOf(
  source: Source,
  { segment, start, shippedBytes, shippedSum }: Position,
  read: SourceRead,
): Promise<{ bytes: Uint8Array; records: SourceRead["records"] } | null> {
  if (read.base > start.position) {
    const bytes = await joined(source, segment, read, { bytes: shippedBytes, sum: shippedSum });
    if (bytes !== null) return { bytes, records: read.records };
  }
  const again = read.base === start.position ? read : await readFrom(source, segment, start);
  if (again === null || !(await isComplete(source, segment, again.records))) return null;
  const bytes = new Uint8Array(source.segmentBytes);
  bytes.set(again.bytes);
  return { bytes, records: again.records };
}

/** Whether two watermarks name the same place. */
function isSame(a: Watermark | null, b: Watermark): boolean {
  return a?.lsn === b.lsn && a.segment === b.segment;
}

/** The watermark that the piece of a read has in its name; null when all is not shipped with it. */
function claimOf(
  { segments }: Source,
  { segment, revokes }: Position,
  { records }: SourceRead,
  at: number,
): { at: number; lsn: number } | null {
  const { outcome, proved } = records;
  const hasNewerTimeline = (segments.at(-1)?.timeline ?? 0) > segment.timeline;
  if (outcome !== "end" || revokes || hasNewerTimeline || proved.lastRecord === null) return null;
  return { at, lsn: proved.lastRecord };
}

/** Whether Postgres writes to a later segment already, although this one does not seem to be complete. */
async function isLeftBehind(source: Source, { segment, proved }: Position, { records }: SourceRead) {
  const next = { ...segment, number: segment.number + 1 };
  if (records.outcome === "broken") return (await firstWritten(source, next.timeline, next.number)) !== null;
  return records.proved.position === proved.position && (await isWritten(source, next));
}

/** The next piece has the whole segment so far, as the first of a new generation. */
function beginGeneration(position: Position): void {
  const { start, generation } = position;
  Object.assign(position, {
    generation: generation + 1,
    pieceCount: 0,
    shippedBytes: 0,
    shippedSum: 0,
    proved: start,
  });
}

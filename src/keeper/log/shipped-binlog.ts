// The log of a MariaDB on its way to its archive: a pass ships what was appended to its files since the pass before.
import type { Watermark } from "../../contracts/keeper.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { LAST_GENERATION, nameAt, placeOf, positionIn } from "./binlog-chain.ts";
import { binlogSourceOf, type BinlogSource } from "./binlog-source.ts";
import type { LogArchive } from "./log-archive.ts";
import { LogFolder } from "./log-folder.ts";
import { lsnText } from "./segment.ts";
import { MAX_PIECES, OWN_WATERMARK_MS, type Shipping, type Step } from "./shipping.ts";

/** How much of which file is in the archive. */
interface Position {
  timeline: number;
  file: number;
  bytes: number;
  /** Of the pieces of the segment that is not whole yet. */
  generation: number;
  pieceCount: number;
}

export class ShippedBinlog implements Shipping {
  readonly archive: LogArchive;
  readonly damage = null;
  readonly #segmentBytes: number;
  #position: Position | null = null;
  /** How far the log has to be shipped for a watermark, when a single pass is not enough. */
  #goal: { at: number; position: number } | null = null;
  #watermark: Watermark | null = null;
  /** Whether a watermark is stored that is later than the latest change. */
  #isStored = false;

  constructor(archive: LogArchive, segmentBytes: number) {
    this.archive = archive;
    this.#segmentBytes = segmentBytes;
  }

  get watermark(): Watermark | null {
    return this.#watermark ?? this.archive.watermark;
  }

  /** See `ShippedLog.pass`. */
  async pass(path: string, maxSegments: number): Promise<Step> {
    const at = Date.now();
    await this.archive.load();
    const folder = LogFolder.open(path);
    try {
      const source = binlogSourceOf(folder);
      if (source === null || source.files.length === 0) return "end";
      if (this.#position?.timeline !== source.timeline) this.#position = await this.#resume(source);
      const position = this.#position;
      let step: Step = "more";
      for (let count = 0; step === "more" && count < maxSegments; count += 1) {
        step = await this.#ship(source, position, at);
      }
      await this.#mark(source, { at, step });
      return step;
    } finally {
      folder.close();
    }
  }

  /** Ships what is new in one segment. The last of it has the watermark of the start of the pass. */
  async #ship(source: BinlogSource, position: Position, at: number): Promise<Step> {
    const { folder, files } = source;
    const name = source.nameOf(position.file);
    const next = files.find((file) => file > position.file);
    // The listing is older than the size, so a file with a later one in it is not written to any more.
    const size = name === "" ? null : folder.size(name);
    if (size === null || size < position.bytes) return await this.#leave(source, position);
    const start = this.#startOf(position);
    const end = Math.min(size, start + this.#segmentBytes);
    const isWhole = end === start + this.#segmentBytes;
    if (isWhole) return await this.#shipWhole(source, position, { start, end });
    if (next !== undefined) return await this.#shipLast(source, position, { start, end, next });
    if (end > position.bytes) await this.#shipPiece(source, position, { start, end, at });
    return "end";
  }

  async #shipWhole(
    source: BinlogSource,
    position: Position,
    { start, end }: { start: number; end: number },
  ): Promise<Step> {
    const segment = this.#nameOf(position);
    await this.archive.putSegment(segment, await read(source, position, start, end));
    await failpoint("keeper.log.segment");
    await this.archive.deletePieces((piece) => piece.segment === segment);
    Object.assign(position, { bytes: end, generation: 1, pieceCount: 0 });
    return "more";
  }

  /** The rest of a file that is complete. */
  async #shipLast(
    source: BinlogSource,
    position: Position,
    { start, end, next }: { start: number; end: number; next: number },
  ): Promise<Step> {
    const segment = this.#nameOf(position);
    const piece = { segment, generation: LAST_GENERATION, from: 0, to: end - start };
    await this.archive.putPiece(piece, await read(source, position, start, end), null);
    await failpoint("keeper.log.closed");
    await this.archive.deletePieces(
      (other) => other.segment === segment && other.generation !== LAST_GENERATION,
    );
    Object.assign(position, { file: next, bytes: 0, generation: 1, pieceCount: 0 });
    return "more";
  }

  async #shipPiece(
    source: BinlogSource,
    position: Position,
    { start, end, at }: { start: number; end: number; at: number },
  ): Promise<void> {
    const segment = this.#nameOf(position);
    const isAnew = position.pieceCount >= MAX_PIECES;
    const generation = position.generation + (isAnew ? 1 : 0);
    const from = isAnew ? start : position.bytes;
    const piece = { segment, generation, from: from - start, to: end - start };
    const claim = { at, lsn: positionIn(position.file, end) };
    await this.archive.putPiece(piece, await read(source, position, from, end), claim);
    this.#isStored = false;
    await failpoint("keeper.log.piece");
    const pieceCount = isAnew ? 1 : position.pieceCount + 1;
    Object.assign(position, { bytes: end, generation, pieceCount });
    await this.archive.deletePieces((other) => other.segment === segment && other.generation !== generation);
  }

  /** The file is gone, or the engine lost its end in a power cut: the former is a gap, the latter is shipped again. */
  async #leave(source: BinlogSource, position: Position): Promise<Step> {
    const isThere = source.files.includes(position.file);
    const file = isThere ? position.file : source.files.find((each) => each > position.file);
    if (file === undefined) return "end";
    if (isThere) await this.#revoke(position);
    this.#position = { ...this.#anew(source.timeline, file) };
    return "more";
  }

  async #revoke({ timeline, file }: Position): Promise<void> {
    const isOfFile = (name: string) => {
      const place = placeOf(name, this.#segmentBytes);
      return place?.timeline === timeline && place.file === file;
    };
    for (const name of [...this.archive.objects.segments].filter(isOfFile))
      await this.archive.deleteSegment(name);
    await this.archive.deletePieces(({ segment }) => isOfFile(segment));
  }

  /** Where shipping goes on, from what the archive has. The segment that is not whole is shipped again. */
  async #resume({ timeline, files }: BinlogSource): Promise<Position> {
    const { segments, pieces } = this.archive.objects;
    const newest = [...segments, ...pieces.map(({ segment }) => segment)]
      .filter((name) => placeOf(name, this.#segmentBytes)?.timeline === timeline)
      .sort()
      .at(-1);
    const place = newest === undefined ? null : placeOf(newest, this.#segmentBytes);
    if (newest === undefined || place === null) return this.#anew(timeline, files[0] ?? 1);
    const own = pieces.filter(({ segment }) => segment === newest);
    if (own.some(({ generation }) => generation === LAST_GENERATION)) {
      const next = files.find((file) => file > place.file);
      return this.#anew(timeline, next ?? place.file + 1);
    }
    const index = place.index + (segments.has(newest) ? 1 : 0);
    const generation = Math.max(0, ...own.map((piece) => piece.generation)) + 1;
    const bytes = index * this.#segmentBytes;
    return { timeline, file: place.file, bytes, generation, pieceCount: 0 };
  }

  #anew(timeline: number, file: number): Position {
    return { timeline, file, bytes: 0, generation: 1, pieceCount: 0 };
  }

  /** Moves the watermark to the start of a pass, once all is shipped that was written by then. */
  async #mark(source: BinlogSource, { at, step }: { at: number; step: Step }): Promise<void> {
    const { file, bytes } = this.#position ?? { file: 0, bytes: 0 };
    const reached = positionIn(file, bytes);
    if (step === "end") {
      this.#goal = null;
      await this.#claim(at);
    } else if (this.#goal !== null && reached >= this.#goal.position) {
      const goal = this.#goal;
      this.#goal = null;
      await this.#claim(goal.at);
    } else if (this.#goal === null) {
      const newest = source.files.at(-1) ?? file;
      const size = source.folder.size(source.nameOf(newest)) ?? 0;
      this.#goal = { at, position: positionIn(newest, size) };
    }
  }

  async #claim(at: number): Promise<void> {
    const position = this.#position;
    // A file that was just begun may be empty.
    if (position === null || position.bytes === 0) return;
    const { timeline, file, bytes } = position;
    const index = Math.floor((bytes - 1) / this.#segmentBytes);
    const watermark = {
      at: new Date(at).toISOString(),
      segment: nameAt({ timeline, file, index }, this.#segmentBytes),
      lsn: lsnText(positionIn(file, bytes)),
    };
    const written = this.archive.watermark;
    // The pass that shipped the latest change had begun before it.
    const isNew =
      written === null || written.lsn !== watermark.lsn || (!this.#isStored && written.at !== watermark.at);
    const storedAt = this.archive.watermarkStoredAt;
    if (isNew || storedAt === null || at - Date.parse(storedAt) >= OWN_WATERMARK_MS) {
      await failpoint("keeper.log.watermark");
      await this.archive.putWatermark(watermark);
      this.#isStored = written?.lsn === watermark.lsn;
    }
    this.#watermark = watermark;
  }

  #startOf({ bytes }: Position): number {
    return bytes - (bytes % this.#segmentBytes);
  }

  #nameOf(position: Position): string {
    const { timeline, file } = position;
    const index = this.#startOf(position) / this.#segmentBytes;
    return nameAt({ timeline, file, index }, this.#segmentBytes);
  }
}

async function read(source: BinlogSource, { file }: Position, from: number, to: number): Promise<Uint8Array> {
  const bytes = await source.folder.part(source.nameOf(file), from, to);
  if (bytes === null) throw new Error("a file of the log is gone");
  return bytes;
}

// The objects of one log in its archive: kept as a list in memory, so that a pass need not list the target.
import * as z from "zod/mini";
import { readAs } from "../../contracts/read.ts";
import { watermarkSchema, type Watermark } from "../../contracts/keeper.ts";
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { DamagedObject, MissingObject, type ObjectStore } from "../object-store.ts";
import {
  begunName,
  currentPieces,
  latestMarked,
  logObjectsOf,
  pieceName,
  WATERMARK_NAME,
  type LogObjects,
  type Mark,
  type Piece,
} from "./objects.ts";
import type { SegmentEnd } from "./trim.ts";
import { historyName, lsnText, parseHistory, parseHistoryName, type Ancestor } from "./segment.ts";

/** As many as a segment has. */
const DELETES_AT_ONCE = 32;

/** @see Mark.count; an archive from before pieces had watermarks has none. */
const storedWatermarkSchema = z.extend(watermarkSchema, { count: z._default(z.int(), 0) });

export class LogArchive {
  readonly #store: ObjectStore;
  readonly #prefix: string;
  #objects: LogObjects | null = null;
  /** The watermark that is an object of its own. */
  #stored: z.infer<typeof storedWatermarkSchema> | null = null;
  /** A piece that is useless but for its watermark. */
  #spared: Piece | null = null;
  #count = 0;
  #version = 0;
  #ends = new Map<string, SegmentEnd>();
  /** What was deleted since each listing began that is under way. */
  readonly #listings = new Set<Set<string>>();
  readonly #histories = new Map<number, Ancestor[]>();

  /** @param prefix what the names of all its objects begin with, such as `archives/ID/log/`. */
  constructor(store: ObjectStore, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  /** Learns what is there; later calls do nothing. @param names of the objects, when they are listed already. */
  async load(names?: string[]): Promise<LogObjects> {
    if (this.#objects !== null) return this.#objects;
    const listed = names ?? (await this.#store.list(this.#prefix)).map(({ name }) => name);
    const objects = logObjectsOf(listed.map((name) => name.slice(this.#prefix.length)));
    this.#stored = await this.#readWatermark();
    for (const timeline of objects.histories) await this.#readHistory(objects, timeline);
    // Another request may have loaded it meanwhile, and changed it since.
    this.#objects ??= objects;
    this.#version += 1;
    return this.#objects;
  }

  /** Begins to note the names of what is deleted, for a listing that is under way. */
  beginListing(): ReadonlySet<string> {
    const deleted = new Set<string>();
    this.#listings.add(deleted);
    return deleted;
  }

  endListing(deleted: ReadonlySet<string>): void {
    this.#listings.delete(deleted as Set<string>);
  }

  /**
   * Takes over objects that a target has which was away. Nothing is stored or deleted meanwhile.
   * @param names of all objects. @param rereads the watermark, also when no object is new.
   * @returns whether anything is new.
   */
  async take(names: string[], rereads: boolean): Promise<boolean> {
    if (this.#objects === null) return (await this.load(names)) !== null;
    const known = this.#objects;
    const listed = logObjectsOf(names.map((name) => name.slice(this.#prefix.length)));
    const pieceNames = new Set(known.pieces.map(pieceName));
    const segments = [...listed.segments].filter((name) => !known.segments.has(name));
    const pieces = listed.pieces.filter((piece) => !pieceNames.has(pieceName(piece)));
    const isNew = segments.length + pieces.length > 0;
    if (!isNew && !rereads) return false;
    const stored = await this.#readWatermark();
    for (const timeline of listed.histories)
      if (!known.histories.has(timeline)) await this.#readHistory(known, timeline);
    for (const timeline of this.#histories.keys()) known.histories.add(timeline);
    for (const name of segments) known.segments.add(name);
    known.pieces.push(...pieces);
    if (listed.begunAt !== undefined) known.begunAt = Math.max(known.begunAt ?? 0, listed.begunAt);
    this.#version += 1;
    const isLater = (stored?.count ?? -1) > (this.#stored?.count ?? -1);
    if (isLater) this.#stored = stored;
    return isNew || isLater;
  }

  /** What is there, as far as it was loaded. */
  get objects(): LogObjects {
    return this.#objects ?? { segments: new Set(), pieces: [], histories: new Set() };
  }

  /**
   * Counts the changes of the objects, for what is worked out from them and kept. Only a piece that goes on with a generation
   * counts for nothing.
   */
  get version(): number {
    return this.#version;
  }

  /** How far the log is in the archive: the watermark that was written last. */
  get watermark(): Watermark | null {
    const marked = latestMarked(this.objects.pieces);
    if (marked !== null && marked.mark.count > (this.#stored?.count ?? -1)) return watermarkOf(marked);
    if (this.#stored === null) return null;
    const { count: _, ...watermark } = this.#stored;
    return watermark;
  }

  /** The instant of the watermark that is an object of its own; null without one. */
  get watermarkStoredAt(): string | null {
    return this.#stored?.at ?? null;
  }

  /** Of whole segments that were read, by name. It begins anew when a segment is stored anew or deleted. */
  get ends(): Map<string, SegmentEnd> {
    return this.#ends;
  }

  /** The ancestors of each timeline that has a history. */
  get histories(): ReadonlyMap<number, Ancestor[]> {
    return this.#histories;
  }

  async putSegment(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#store.put(this.#prefix + name, bytes);
    } finally {
      if (this.objects.segments.has(name)) this.#ends = new Map();
    }
    this.objects.segments.add(name);
    this.#version += 1;
  }

  /** @param claim a watermark that holds once the piece is stored; null for none. */
  async putPiece(
    piece: Omit<Piece, "mark">,
    bytes: Uint8Array,
    claim: Omit<Mark, "count"> | null,
  ): Promise<void> {
    const marked = { ...piece, mark: claim === null ? null : { ...claim, count: this.#nextCount() } };
    await this.#store.put(this.#prefix + pieceName(marked), bytes, true);
    const { segment, generation } = piece;
    const goesOn = this.objects.pieces.some(
      (known) => known.segment === segment && known.generation === generation,
    );
    this.objects.pieces.push(marked);
    if (!goesOn) this.#version += 1;
    if (marked.mark !== null) await this.#dropSpared();
  }

  async putHistory(timeline: number, bytes: Uint8Array): Promise<void> {
    const ancestors = parseHistory(new TextDecoder().decode(bytes));
    await this.#store.put(this.#prefix + historyName(timeline), bytes);
    this.objects.histories.add(timeline);
    this.#histories.set(timeline, ancestors);
    this.#version += 1;
  }

  /** Written last: it promises that all before it is there. */
  async putWatermark(watermark: Watermark): Promise<void> {
    const stored = { ...watermark, count: this.#nextCount() };
    await this.#store.put(this.#prefix + WATERMARK_NAME, new TextEncoder().encode(JSON.stringify(stored)));
    this.#stored = stored;
    await this.#dropSpared();
  }

  async deleteSegment(name: string): Promise<void> {
    try {
      await this.#delete(this.#prefix + name);
    } finally {
      this.#ends = new Map();
    }
    this.objects.segments.delete(name);
    this.#version += 1;
  }

  /** Deletes the pieces that a condition names; that of the latest watermark stays until there is a later one. */
  async deletePieces(isUseless: (piece: Piece) => boolean): Promise<void> {
    const useless = this.objects.pieces.filter(isUseless);
    const marked = latestMarked(this.objects.pieces);
    const isLatest = (piece: Piece) => piece === marked && marked.mark.count > (this.#stored?.count ?? -1);
    this.#spared = useless.find(isLatest) ?? this.#spared;
    const deleted = useless.filter((piece) => !isLatest(piece));
    await forEachLimited(deleted, DELETES_AT_ONCE, (piece) => this.#deletePiece(piece));
  }

  /**
   * Deletes the log, since what comes is that of other data.
   * @param at in milliseconds since 1970; no backup from before leads to the log to come.
   */
  async beginAnew(at: number): Promise<void> {
    const objects = await this.load();
    const { begunAt } = objects;
    // The watermark of a target that is away has to stay an earlier one.
    this.#nextCount();
    await this.#store.put(this.#prefix + begunName(at), new Uint8Array());
    objects.begunAt = at;
    this.#version += 1;
    await this.#delete(this.#prefix + WATERMARK_NAME);
    this.#stored = null;
    this.#spared = null;
    await forEachLimited([...objects.pieces], DELETES_AT_ONCE, (piece) => this.#deletePiece(piece));
    await forEachLimited([...objects.segments], DELETES_AT_ONCE, (name) => this.deleteSegment(name));
    for (const timeline of objects.histories) {
      await this.#delete(this.#prefix + historyName(timeline));
      objects.histories.delete(timeline);
      this.#histories.delete(timeline);
      this.#version += 1;
    }
    if (begunAt !== undefined && begunAt !== at) await this.#delete(this.#prefix + begunName(begunAt));
  }

  async #dropSpared(): Promise<void> {
    if (this.#spared !== null) await this.#deletePiece(this.#spared);
    this.#spared = null;
  }

  async #deletePiece(piece: Piece): Promise<void> {
    await this.#delete(this.#prefix + pieceName(piece));
    const index = this.objects.pieces.indexOf(piece);
    if (index !== -1) this.objects.pieces.splice(index, 1);
    this.#version += 1;
  }

  async #delete(name: string): Promise<void> {
    for (const deleted of this.#listings) deleted.add(name);
    await this.#store.delete(name);
  }

  /** Counts also attempts that failed, since their object may be there all the same. */
  #nextCount(): number {
    const known = Math.max(this.#stored?.count ?? 0, latestMarked(this.objects.pieces)?.mark.count ?? 0);
    this.#count = Math.max(this.#count, known) + 1;
    return this.#count;
  }

  /**
   * A segment as Postgres reads it, or the history of a timeline: what is missing at its end is zero.
   * @throws MissingObject, DamagedObject, WrongKey.
   */
  async read(name: string, segmentBytes: number): Promise<Uint8Array> {
    if (parseHistoryName(name) !== null || this.objects.segments.has(name)) {
      return await this.#store.get(this.#prefix + name);
    }
    const pieces = currentPieces(this.objects.pieces, name);
    if (pieces.length === 0) throw new MissingObject(this.#prefix + name);
    const segment = new Uint8Array(segmentBytes);
    for (const piece of pieces)
      segment.set(await this.#store.get(this.#prefix + pieceName(piece)), piece.from);
    return segment;
  }

  /** A damaged watermark counts as none: the next pass writes it anew. */
  async #readWatermark(): Promise<z.infer<typeof storedWatermarkSchema> | null> {
    const bytes = await this.#readIntact(WATERMARK_NAME);
    if (bytes === null) return null;
    return readAs(storedWatermarkSchema, JSON.parse(new TextDecoder().decode(bytes)), "a watermark");
  }

  /** A damaged history counts as none: the next pass writes it anew. */
  async #readHistory(objects: LogObjects, timeline: number): Promise<void> {
    const bytes = await this.#readIntact(historyName(timeline));
    if (bytes === null) objects.histories.delete(timeline);
    else this.#histories.set(timeline, parseHistory(new TextDecoder().decode(bytes)));
  }

  async #readIntact(name: string): Promise<Uint8Array | null> {
    try {
      return await this.#store.get(this.#prefix + name);
    } catch (error) {
      if (error instanceof MissingObject || error instanceof DamagedObject) return null;
      throw error;
    }
  }
}

function watermarkOf({ segment, mark: { at, lsn } }: Piece & { mark: Mark }): Watermark {
  return { at: new Date(at).toISOString(), segment, lsn: lsnText(lsn) };
}

// Reads a stream in pieces of known lengths, within a bound.
import { SourceRefusal, SourceTooLarge } from "./faults.ts";
import { streamOf } from "./streams.ts";

/** A reader of a stream of bytes. */
export class ByteReader {
  readonly #parts: AsyncIterator<Uint8Array>;
  readonly #maxBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #taken = 0;

  /** @param maxBytes the most that may come altogether. */
  constructor(parts: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#parts = parts[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
  }

  /** The next bytes; fewer at the end of the stream. */
  async read(length: number): Promise<Buffer> {
    const found: Buffer[] = [];
    for await (const part of this.pieces(length)) found.push(part);
    return found.length === 1 && found[0] !== undefined ? found[0] : Buffer.concat(found);
  }

  /** The next bytes as they come, which may be fewer at the end of the stream. */
  async *pieces(length: number): AsyncGenerator<Buffer> {
    for (let missing = length; missing > 0;) {
      if (this.#rest.length === 0 && !(await this.#fill())) return;
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#parts.next();
    if (done === true) return false;
    this.#taken += value.length;
    if (this.#taken > this.#maxBytes) throw new SourceTooLarge("The archive is larger than Pilvi takes.");
    this.#rest = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return true;
  }
}

/** The reader of a stream, whatever else it can do. */
interface PartReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}

const GZIP = [0x1f, 0x8b];

/** Unpacks gzip where the stream begins like it. */
export async function* unzipped(source: PartReader, maxBytes: number): AsyncGenerator<Uint8Array> {
  const reader = new ByteReader(partsOf(source), maxBytes);
  const head = await reader.read(GZIP.length);
  async function* all(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    yield new Uint8Array(head);
    for await (const piece of reader.pieces(Infinity)) yield new Uint8Array(piece);
  }
  if (!GZIP.every((byte, at) => head[at] === byte)) return yield* all();
  try {
    yield* streamOf(all()).pipeThrough(new DecompressionStream("gzip"));
  } catch (error) {
    if (error instanceof SourceRefusal) throw error;
    throw new SourceRefusal("The archive is no complete gzip.", error);
  }
}

/** Unlike a loop over the stream, this leaves cancelling to the owner of the reader, even while a part is awaited. */
async function* partsOf(source: PartReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await source.read();
    if (done || value === undefined) return;
    yield value;
  }
}

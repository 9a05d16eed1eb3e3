// One series at one resolution: averages over the latest buckets of time, in constant memory.

/** Bytes before the two arrays in the result of `encode`: the newest bucket and its weight, as 64 bit floats. */
const HEADER_BYTES = 16;

export interface Bucket {
  /** When the bucket begins, in milliseconds since 1970. */
  startMs: number;
  connectionCount: number;
  messageRate: number;
}

/**
 * Buckets are aligned to multiples of their length since 1970, and each holds averages over its measured time. A bucket
 * without a measurement is NaN. Each bucket takes 8 bytes.
 */
export class Ring {
  readonly stepMs: number;
  readonly length: number;
  readonly #connections: Float32Array;
  readonly #rates: Float32Array;
  /** The number of the newest bucket since 1970; -1 before the first. */
  #newest = -1;
  /** The time that the newest bucket's averages stand for. */
  #weightMs = 0;

  constructor(stepMs: number, length: number) {
    this.stepMs = stepMs;
    this.length = length;
    this.#connections = new Float32Array(length).fill(NaN);
    this.#rates = new Float32Array(length).fill(NaN);
  }

  get spanMs(): number {
    return this.stepMs * this.length;
  }

  /** @param weightMs how long these values held, up to now; positive. */
  add(nowMs: number, weightMs: number, connectionCount: number, messageRate: number): void {
    const bucket = Math.floor(nowMs / this.stepMs);
    if (bucket !== this.#newest) this.#moveTo(bucket);
    this.#weightMs += weightMs;
    const share = weightMs / this.#weightMs;
    const slot = bucket % this.length;
    if (share === 1) {
      this.#connections[slot] = connectionCount;
      this.#rates[slot] = messageRate;
      return;
    }
    this.#connections[slot] = mix(this.#connections[slot], connectionCount, share);
    this.#rates[slot] = mix(this.#rates[slot], messageRate, share);
  }

  /** The measured buckets of the last `periodMs`, the present bucket included, oldest first. */
  buckets(nowMs: number, periodMs: number): Bucket[] {
    const last = Math.min(Math.floor(nowMs / this.stepMs), this.#newest);
    const count = Math.min(this.length, Math.ceil(periodMs / this.stepMs));
    const first = Math.max(0, this.#newest - this.length + 1, Math.floor(nowMs / this.stepMs) - count + 1);
    const found: Bucket[] = [];
    for (let bucket = first; bucket <= last; bucket += 1) {
      const connectionCount = this.#connections[bucket % this.length] ?? NaN;
      const messageRate = this.#rates[bucket % this.length] ?? NaN;
      if (Number.isNaN(connectionCount)) continue;
      found.push({ startMs: bucket * this.stepMs, connectionCount, messageRate });
    }
    return found;
  }

  /** The bytes that `decode` reads, always `encodedBytes` of them. */
  encode(): Uint8Array {
    const bytes = new Uint8Array(this.encodedBytes);
    const header = new DataView(bytes.buffer);
    header.setFloat64(0, this.#newest);
    header.setFloat64(8, this.#weightMs);
    bytes.set(bytesOf(this.#connections), HEADER_BYTES);
    bytes.set(bytesOf(this.#rates), HEADER_BYTES + this.#connections.byteLength);
    return bytes;
  }

  get encodedBytes(): number {
    return HEADER_BYTES + this.#connections.byteLength + this.#rates.byteLength;
  }

  /**
   * Takes over the content of another ring.
   * @param bytes of `encode`, from a ring of the same length and step.
   * @throws RangeError when the bytes have another size or make no sense.
   */
  decode(bytes: Uint8Array): void {
    if (bytes.byteLength !== this.encodedBytes) throw new RangeError("The size of a ring is wrong.");
    const header = new DataView(bytes.buffer, bytes.byteOffset);
    const newest = header.getFloat64(0);
    const weightMs = header.getFloat64(8);
    if (!Number.isSafeInteger(newest) || newest < -1) throw new RangeError("A ring has no newest bucket.");
    if (!(weightMs >= 0 && weightMs < Infinity)) throw new RangeError("A ring has no weight.");
    this.#newest = newest;
    this.#weightMs = weightMs;
    const half = HEADER_BYTES + this.#connections.byteLength;
    bytesOf(this.#connections).set(bytes.subarray(HEADER_BYTES, half));
    bytesOf(this.#rates).set(bytes.subarray(half));
  }

  /**
   * Empties the buckets between the newest and another; after a clock was set back, the buckets that are now in the
   * future.
   */
  #moveTo(bucket: number): void {
    const forward = bucket > this.#newest;
    const from = forward ? Math.max(this.#newest + 1, bucket - this.length + 1) : bucket;
    const to = forward ? bucket : Math.min(this.#newest, bucket + this.length - 1);
    for (let each = from; each <= to; each += 1) {
      this.#connections[each % this.length] = NaN;
      this.#rates[each % this.length] = NaN;
    }
    this.#newest = bucket;
    this.#weightMs = 0;
  }
}

function mix(former: number | undefined, latest: number, share: number): number {
  return (former ?? 0) + (latest - (former ?? 0)) * share;
}

function bytesOf(array: Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

// Keeps batches of readings until the control plane has taken them, across kills of the host, within a bound.
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import {
  MAX_BATCHES,
  readingBatchSchema,
  type ReadingBatch,
  type ReadingsAnswer,
} from "../../contracts/readings.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { codeOf } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";

/** The most that waits, in bytes of text: more than an hour of a thousand instances. The oldest batches are dropped. */
const MAX_BYTES = 16 * 1024 ** 2;
/** The longest wait. The control plane keeps minutes for 25 hours. */
const MAX_WAITING = 24 * 60;

/** A batch that waits, as a line of the file. */
interface Waiting {
  sequence: number;
  text: string;
}

export class ReadingBuffer {
  /** The cursor of an earlier process is invalid for this one. */
  readonly #process = randomUUID();
  readonly #path: string;
  readonly #log: Log;
  readonly #maxBytes: number;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #fileBytes = 0;
  #sequence = 0;

  /** @param path the file; the batches of an earlier host are taken up. */
  constructor(path: string, log: Log, maxBytes = MAX_BYTES) {
    this.#path = path;
    this.#log = log;
    this.#maxBytes = maxBytes;
    for (const line of linesOf(path)) this.#take(line);
    this.#rewrite();
  }

  /** Adds the batch of a minute. Never throws: a full disk costs readings after a kill, and nothing else. */
  add(batch: ReadingBatch): void {
    const text = `${JSON.stringify(batch)}\n`;
    this.#keep(text);
    try {
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#fileBytes += text.length;
    } catch (error) {
      this.#log.warn({ error }, "readings could not be kept on the disk");
    }
    if (this.#fileBytes > 2 * this.#maxBytes) this.#rewrite();
  }

  /** The batches after a cursor, which says that all before were taken; all batches for an unknown cursor. */
  after(cursor: string | undefined): ReadingsAnswer {
    const [process, sequence] = cursor?.split(" ") ?? [];
    const taken = process === this.#process ? Number(sequence) : 0;
    this.#forget(taken);
    const next = this.#waiting.slice(0, MAX_BATCHES);
    return {
      version: 1,
      cursor: `${this.#process} ${next.at(-1)?.sequence ?? taken}`,
      batches: next.map(({ text }) => JSON.parse(text) as ReadingBatch),
    };
  }

  #forget(taken: number): void {
    const kept = this.#waiting.filter(({ sequence }) => sequence > taken);
    if (kept.length === this.#waiting.length) return;
    this.#waiting = kept;
    this.#bytes = kept.reduce((sum, { text }) => sum + text.length, 0);
    if (kept.length === 0) this.#rewrite();
  }

  /** Takes up a line of the file. A kill leaves at most the last line half written. */
  #take(line: string): void {
    try {
      this.#keep(`${JSON.stringify(readJsonAs(readingBatchSchema, line, "The batch of readings"))}\n`);
    } catch (error) {
      this.#log.warn({ error }, "a batch of readings cannot be understood");
    }
  }

  #keep(text: string): void {
    this.#sequence += 1;
    this.#waiting.push({ sequence: this.#sequence, text });
    this.#bytes += text.length;
    while (this.#bytes > this.#maxBytes || this.#waiting.length > MAX_WAITING) {
      this.#bytes -= this.#waiting.shift()?.text.length ?? 0;
    }
  }

  #rewrite(): void {
    if (this.#fileBytes === 0 && this.#waiting.length === 0 && linesOf(this.#path).length === 0) return;
    try {
      replaceFile(this.#path, this.#waiting.map(({ text }) => text).join(""), 0o600);
      this.#fileBytes = this.#bytes;
    } catch (error) {
      this.#log.warn({ error }, "readings could not be kept on the disk");
    }
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return [];
  }
}

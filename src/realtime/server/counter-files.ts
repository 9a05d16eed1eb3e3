// Counts in files that are mapped into memory, so that they outlive a killed process at no cost for a message.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../lib/line-log.ts";
import { CELL_COUNT, inMemory, type Cells, type CellStore } from "../counters.ts";

const FILE_BYTES = CELL_COUNT * Float64Array.BYTES_PER_ELEMENT;

export class CounterFiles implements CellStore {
  readonly #folder: string;
  readonly #log: Pick<Log, "warn">;

  /** @param folder is made if need be; it has a file for each name, and nothing else. */
  constructor(folder: string, log: Pick<Log, "warn">) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Never throws: on a full disk the counts are in memory alone. */
  open(name: string): Cells {
    try {
      mkdirSync(this.#folder, { recursive: true });
      return this.#map(join(this.#folder, name));
    } catch (error) {
      this.#log.warn({ error, name }, "counts cannot be kept on the disk");
      return inMemory.open(name);
    }
  }

  /** Never throws: without a folder there are none. */
  names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch (error) {
      this.#log.warn({ error }, "the kept counts cannot be listed");
      return [];
    }
  }

  /** Never throws: a file that cannot be deleted is there again for the next process. */
  remove(name: string): void {
    try {
      rmSync(join(this.#folder, name), { force: true });
    } catch (error) {
      this.#log.warn({ error, name }, "the counts of a removed application cannot be deleted");
    }
  }

  #map(path: string): Cells {
    // The bytes are written, since a write into a mapped hole of a file kills the process on a full disk.
    if (sizeOf(path) !== FILE_BYTES) writeFileSync(path, new Uint8Array(FILE_BYTES), { mode: 0o600 });
    const bytes = Bun.mmap(path, { shared: true });
    const cells = new Float64Array(bytes.buffer, bytes.byteOffset, CELL_COUNT);
    // A power cut may leave anything.
    if (!cells.every((count) => Number.isSafeInteger(count) && count >= 0)) cells.fill(0);
    return cells;
  }
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

// Watches how much of the disk a build takes.
import type { Log } from "../../lib/log.ts";
import { treeSizeOf } from "../os/disk-use.ts";

/** How often the disk is measured. */
const INTERVAL_MS = 500;

/** The most files and folders; a file takes room even when it is empty. */
export const MAX_ENTRIES = 500_000;

/** What is watched. */
export interface WatchedDisk {
  /** The folders at the moment. */
  folders(): string[];
  maxBytes: number;
  onFull(): void;
  log: Log;
}

export class DiskWatch {
  readonly #disk: WatchedDisk;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** A tree of many files takes longer to be measured than the pause between two measurements. */
  #isMeasuring = false;

  constructor(disk: WatchedDisk) {
    this.#disk = disk;
  }

  begin(): void {
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Measures once. */
  async check(): Promise<void> {
    const sizes = await Promise.all(this.#disk.folders().map((path) => treeSizeOf(path, MAX_ENTRIES)));
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
    const isFull = bytes > this.#disk.maxBytes || sizes.some(({ entries }) => entries >= MAX_ENTRIES);
    if (isFull) this.#disk.onFull();
  }

  #tick(): void {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    this.check()
      .catch((error: unknown) => this.#disk.log.warn({ error }, "the disk of a build could not be measured"))
      .finally(() => {
        this.#isMeasuring = false;
      });
  }
}

// Watches how much of the disk a build takes, and that enough of it is left for databases.
import { statfs } from "node:fs/promises";
import type { Log } from "../../lib/log.ts";
import { treeSizeOf, type TreeBound } from "../os/disk-use.ts";

/** How often the disk is measured. */
const INTERVAL_MS = 500;

/** The most files and folders; a file takes room even when it is empty. */
export const MAX_ENTRIES = 500_000;

/** Builds end when less is free: this many bytes or files, or this part of a small disk. */
const [FLOOR_BYTES, FLOOR_FILES, FLOOR_SHARE] = [1024 ** 3, 200_000, 0.05];

/** What a build has exceeded. */
export type DiskBound = "bytes" | TreeBound;

/** What is watched. */
export interface WatchedDisk {
  /** The folders at the moment. */
  folders(): string[];
  maxBytes: number;
  onFull(bound: DiskBound): void;
  /** Called when the disk of the machine is nearly full, also through others. */
  onLow(): void;
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
    if (await isLow(this.#disk.folders()[0])) this.#disk.onLow();
    const sizes = await Promise.all(this.#disk.folders().map((path) => treeSizeOf(path, MAX_ENTRIES)));
    const exceeded = sizes.find(({ excess }) => excess !== null)?.excess ?? null;
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
    if (exceeded !== null) this.#disk.onFull(exceeded);
    else if (bytes > this.#disk.maxBytes) this.#disk.onFull("bytes");
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

/** A full disk would stop databases, which cannot write then; a build can be repeated. */
async function isLow(folder: string | undefined): Promise<boolean> {
  if (folder === undefined) return false;
  const { bavail, blocks, bsize, ffree, files } = await statfs(folder);
  // A file system without a bound of files, such as a btrfs, has neither any nor any free: no number is below the floor.
  const hasFewFiles = ffree < Math.min(FLOOR_FILES, files * FLOOR_SHARE);
  return hasFewFiles || bavail * bsize < Math.min(FLOOR_BYTES, blocks * bsize * FLOOR_SHARE);
}

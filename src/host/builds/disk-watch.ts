// Watches how much of the disk a build takes, and that enough of it is left for databases.
import { isDiskLow } from "../../lib/disk-floor.ts";
import type { Log } from "../../lib/log.ts";
import { treeSizeOf, type TreeBound, type TreeSize } from "../os/disk-use.ts";

/** How often the disk is looked at. */
const INTERVAL_MS = 500;

/** A walk through the trees is followed by a pause of so many times as long, so that it takes little of the processor. */
const PAUSE_TIMES = 10;

/** The most files and folders; a file takes room even when it is empty. */
export const MAX_ENTRIES = 500_000;

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
  /** Infinite during a walk: a tree of many files takes longer to be measured than the pause between two looks. */
  #nextWalkAtMs = 0;

  constructor(disk: WatchedDisk) {
    this.#disk = disk;
  }

  begin(): void {
    this.#timer = setInterval(() => void this.look(), INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Looks whether the disk is nearly full, and measures the trees if that is due. */
  async look(): Promise<void> {
    try {
      await this.#checkRoom();
      if (performance.now() >= this.#nextWalkAtMs) await this.#walk();
    } catch (error) {
      this.#disk.log.warn({ error }, "the disk of a build could not be measured");
    }
  }

  /** Measures once. */
  async check(): Promise<void> {
    await this.#checkRoom();
    await this.#walk();
  }

  async #checkRoom(): Promise<void> {
    const [folder] = this.#disk.folders();
    // A build can be repeated, and a database cannot do without room.
    if (folder !== undefined && (await isDiskLow(folder))) this.#disk.onLow();
  }

  async #walk(): Promise<void> {
    const sizes = await this.#sizes();
    const exceeded = sizes.find(({ excess }) => excess !== null)?.excess ?? null;
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
    if (exceeded !== null) this.#disk.onFull(exceeded);
    else if (bytes > this.#disk.maxBytes) this.#disk.onFull("bytes");
  }

  async #sizes(): Promise<TreeSize[]> {
    const startedAtMs = performance.now();
    this.#nextWalkAtMs = Infinity;
    try {
      return await Promise.all(this.#disk.folders().map((path) => treeSizeOf(path, MAX_ENTRIES)));
    } finally {
      const endedAtMs = performance.now();
      this.#nextWalkAtMs = endedAtMs + PAUSE_TIMES * (endedAtMs - startedAtMs);
    }
  }
}

// The log of one environment: gives entries their times, counts what has no room, and says so in the log.
import { accessEntry } from "./access-entries.ts";
import { Chain, type Written } from "./chain.ts";
import type { NewEntry, StoredEntry } from "./entry.ts";

/** The most requests of an environment in a turn; the others are counted. */
const MAX_REQUESTS_OF_TURN = 500;

export class EnvironmentLog {
  readonly processes: Chain;
  readonly edge: Chain;
  #requests: string[] = [];
  #unlogged = 0;
  /** Rises with every entry. */
  version = 0;

  /** @param onFull called whenever a segment is full. */
  constructor(folder: string, onFull: () => void) {
    this.processes = new Chain(folder, "a", onFull);
    this.edge = new Chain(folder, "x", onFull);
  }

  /** How far the output of an instance was read. */
  positionOf(instance: string): number {
    return this.processes.positions[instance] ?? 0;
  }

  /** Appends entries of processes. @param maxBytes reached by the last of them that is written. */
  append(entries: readonly NewEntry[], maxBytes = Infinity): Written {
    if (entries.length === 0) return { count: 0, bytes: 0 };
    const written = this.processes.append(timed(entries, this.processes), maxBytes);
    this.version += 1;
    return written;
  }

  /** Closes and compresses segments. */
  async tidy(nowMs: number): Promise<void> {
    const chains = [this.processes, this.edge];
    // A log that is deleted while segments are compressed must not begin another segment.
    for (const chain of chains) chain.close(nowMs);
    for (const chain of chains) await chain.compress();
  }

  /** Takes a line of the edge until the next turn. */
  request(line: string): void {
    if (this.#requests.length < MAX_REQUESTS_OF_TURN) this.#requests.push(line);
    else this.#unlogged += 1;
  }

  /** Counts requests that the edge or the host could not log. */
  missed(requests: number): void {
    this.#unlogged += requests;
  }

  /** Writes what has come since the last turn. @param isFull says whether the disk has no room for it. */
  flush(isFull: () => boolean): void {
    if (this.#requests.length === 0 && this.#unlogged === 0) return;
    if (isFull()) {
      this.#unlogged += this.#requests.length;
      this.#requests = [];
      return;
    }
    const requests = this.#requests;
    this.#requests = [];
    const entries = requests.flatMap((line) => accessEntry(line) ?? []);
    this.#unlogged += requests.length - entries.length;
    this.edge.append(timed(entries, this.edge));
    this.version += 1;
    if (this.#unlogged === 0) return;
    const count = this.#unlogged;
    this.#unlogged = 0;
    const noun = count === 1 ? "1 request is" : `${count} requests are`;
    this.append([{ l: "warning", y: "system", m: `${noun} missing here: there were too many at once.` }]);
  }
}

/** An application says when it wrote a line; the order of the log stays that in which the host has read it. */
function timed(entries: readonly NewEntry[], chain: Chain): StoredEntry[] {
  const nowMs = Date.now();
  chain.followClock(nowMs);
  let floor = chain.latestMs;
  return entries.map((entry) => {
    floor = Math.max(floor, Math.min(entry.t ?? nowMs, nowMs));
    return { ...entry, t: floor };
  });
}

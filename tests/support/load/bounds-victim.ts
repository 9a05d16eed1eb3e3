// A victim of instances with too large objects: how long its cluster takes to wake, and the memory of Pilvi's processes.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { createCluster, startDatabases } from "../pilvi/databases.ts";
import type { TestPilvi } from "../pilvi/pilvi.ts";
import { runProgram } from "../clients/programs.ts";
import { Sleeper } from "../pilvi/sleepers.ts";

const ROUNDS = 3;
const MOST_MEGABYTES = 300;

/** The times of some wakes, in milliseconds. */
type Wakes = number[];

export class BoundsVictim {
  readonly pilvi: TestPilvi;
  readonly #cluster: DatabaseClusterResource;
  readonly #url: string;

  private constructor(pilvi: TestPilvi, cluster: DatabaseClusterResource) {
    this.pilvi = pilvi;
    this.#cluster = cluster;
    const { username, password, hostname, port } = cluster.attributes.connection;
    this.#url = `postgres://${username}:${password}@${hostname}:${port}/main`;
  }

  /** Starts a Pilvi of its own. */
  static async begin(): Promise<BoundsVictim> {
    const pilvi = await startDatabases();
    return new BoundsVictim(pilvi, await createCluster(pilvi, { name: "victim" }));
  }

  /** Measures some wakes. @param beside is repeated until all are measured. */
  async wakes(beside?: () => Promise<unknown>): Promise<Wakes> {
    const state = { isOver: false };
    const repetition = repeat(beside, () => state.isOver);
    try {
      return await this.#measure();
    } finally {
      state.isOver = true;
      await repetition;
    }
  }

  /**
   * Expects that the victim woke within twice its usual time during each part of an attack, and that the host and the
   * gateway took no more memory than usual. The usual time is that before and after the attack, and the fastest of some
   * wakes counts, since a busy machine delays single wakes; an attack that gets through delays all.
   */
  async expectUnharmed(before: Wakes, ...during: Wakes[]): Promise<void> {
    const usualMs = medianOf([...before, ...(await this.wakes())]);
    for (const wakes of during) expect(Math.min(...wakes)).toBeLessThan(2 * usualMs);
    expect(this.#largestMegabytes()).toBeLessThan(MOST_MEGABYTES);
  }

  async #measure(): Promise<Wakes> {
    const times: Wakes = [];
    for (let round = 0; round < ROUNDS; round++) {
      await new Sleeper(this.pilvi, this.#cluster).sleep();
      const startMs = performance.now();
      // A program of its own: what this process does beside it delays no answer.
      await runProgram(["psql", "-XAtc", "select 1", this.#url]);
      times.push(performance.now() - startMs);
    }
    return times;
  }

  /** The most memory that the host or the gateway has ever had, in MB. */
  #largestMegabytes(): number {
    const pids = (["host", "gateway"] as const).map((name) => this.pilvi.pidOf(name));
    const sizes = pids.map((pid) => /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    return Math.max(...sizes.map(Number)) / 1024;
  }
}

async function repeat(action: (() => Promise<unknown>) | undefined, isOver: () => boolean): Promise<void> {
  if (action === undefined) return;
  while (!isOver()) await action();
}

function medianOf(times: Wakes): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity;
}

/** A text of a file of attacks, with its repetitions, such as `{x * 30}`, written out. */
export function expanded(text: string): string {
  return text.replace(/\{(.) \* (\d+)\}/g, (_, word: string, count: string) => word.repeat(Number(count)));
}

// When memory is given back, by a played clock.
import { expect, test } from "bun:test";
import { IdleMemory } from "./idle-memory.ts";

const MINUTE_MS = 60_000;

/** A process whose share of a processor in each minute the test says. */
class Process {
  readonly #now = { cpuMs: 0, nowMs: 1_000 };
  times = 0;
  readonly #memory = new IdleMemory({
    cpuMs: () => this.#now.cpuMs,
    nowMs: () => this.#now.nowMs,
    release: () => (this.times += 1),
  });

  minutes(...shares: number[]): number {
    for (const share of shares) {
      this.#now.nowMs += MINUTE_MS;
      this.#now.cpuMs += share * MINUTE_MS;
      this.#memory.look();
    }
    return this.times;
  }
}

test("memory is given back once after work, when it is over", () => {
  const worker = new Process();
  expect(worker.minutes(0.5, 0.04, 0.4)).toBe(0);
  expect(worker.minutes(0.01)).toBe(1);
  expect(worker.minutes(0.01, 0, 0.04, 0.01, ...Array<number>(20).fill(0))).toBe(1);
});

test("a process without work gives nothing back", () => {
  expect(new Process().minutes(0.01, 0.04, 0.01)).toBe(0);
});

test("memory of work that follows soon is given back after ten minutes", () => {
  const worker = new Process();
  expect(worker.minutes(1, 0)).toBe(1);
  expect(worker.minutes(1, 0, 1, 0, 0, 0, 0, 0, 0)).toBe(1);
  expect(worker.minutes(0)).toBe(2);
});

// How many engines start at a time, and in which order.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { applicationSpec } from "../../../tests/support/applications/host.ts";
import { cacheSpec } from "../../drivers/test-support.ts";
import { startOwnerOf, StartLimiter, type StartRequest } from "./start-limiter.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Runs all pending continuations. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

/** Starts that are named after their owners: `a1` and `a2` are of `a`. */
class Starts {
  readonly begun: string[] = [];
  readonly #limiter: StartLimiter;
  readonly #leaves = new Map<string, () => void>();

  constructor(limit: number) {
    this.#limiter = new StartLimiter(limit);
  }

  /** Begins starts in this order, or has them wait. */
  async ask(names: string[], { isUrgent = false, signal = new AbortController().signal } = {}) {
    for (const name of names) {
      const request = { owner: name.slice(0, 1), isUrgent, signal };
      this.#begin(name, request).catch(() => undefined);
    }
    await settle();
  }

  async #begin(name: string, request: StartRequest) {
    const leave = await this.#limiter.enter(request);
    this.begun.push(name);
    this.#leaves.set(name, leave);
  }

  /** Ends a start. A second call must not free a second place. */
  async end(name: string) {
    this.#leaves.get(name)?.();
    this.#leaves.get(name)?.();
    await settle();
  }

  /** Ends the starts in the order of their beginning until none is left. */
  async endAll() {
    for (let at = 0; at < this.begun.length; at += 1) await this.end(this.begun[at] ?? "");
  }
}

test("at most two engines start at a time, urgent starts first, each group in order of arrival", async () => {
  const starts = new Starts(2);
  await starts.ask(["a", "b", "c", "d"]);
  await starts.ask(["w", "x"], { isUrgent: true });
  expect(starts.begun).toEqual(["a", "b"]);
  await starts.endAll();
  expect(starts.begun).toEqual(["a", "b", "w", "x", "c", "d"]);
});

test("an owner with many starts leaves a place to another, and uses all but that while it is alone", async () => {
  const starts = new Starts(4);
  await starts.ask(["a1", "a2", "a3", "a4", "a5", "a6"]);
  expect(starts.begun).toEqual(["a1", "a2", "a3"]);
  await starts.ask(["b1"]);
  expect(starts.begun.slice(3)).toEqual(["b1"]);
});

test("an owner has no more than its part of the places while others wait", async () => {
  const starts = new Starts(4);
  await starts.ask(["a1", "a2", "a3", "a4", "a5", "a6"]);
  await starts.ask(["b1", "b2", "b3"]);
  await starts.end("a1");
  await starts.end("a2");
  expect(starts.begun).toEqual(["a1", "a2", "a3", "b1", "b2", "a4"]);
  await starts.end("b1");
  await starts.end("a3");
  expect(starts.begun.slice(6)).toEqual(["b3", "a5"]);
});

test("owners have their turns on a single place", async () => {
  const starts = new Starts(1);
  await starts.ask(["a1", "a2", "a3", "b1", "c1"]);
  await starts.endAll();
  expect(starts.begun).toEqual(["a1", "b1", "c1", "a2", "a3"]);
});

test("urgent starts are fair among themselves, and come before the starts of any owner", async () => {
  const starts = new Starts(1);
  await starts.ask(["a1", "c1"]);
  await starts.ask(["a2", "a3", "b1"], { isUrgent: true });
  await starts.endAll();
  expect(starts.begun).toEqual(["a1", "b1", "a2", "a3", "c1"]);
});

test("a start that is given up leaves the line, and the next start begins", async () => {
  const starts = new Starts(1);
  const givingUp = new AbortController();
  await starts.ask(["a1"]);
  await starts.ask(["b1"], { signal: givingUp.signal });
  await starts.ask(["c1"]);
  givingUp.abort(new Error("given up"));
  await starts.ask(["d1"], { signal: givingUp.signal });
  await starts.endAll();
  expect(starts.begun).toEqual(["a1", "c1"]);
});

test("the wait of a start that is given up fails with the reason", async () => {
  const limiter = new StartLimiter(1);
  const { signal } = new AbortController();
  await limiter.enter({ owner: "a", isUrgent: false, signal });
  const givingUp = new AbortController();
  const waiting = limiter.enter({ owner: "b", isUrgent: false, signal: givingUp.signal });
  givingUp.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
});

test("a start that takes long does not hold up the others", async () => {
  const starts = new Starts(1);
  await starts.ask(["a1"], { isUrgent: true });
  await starts.ask(["b1"]);
  expect(starts.begun).toEqual(["a1"]);
  jest.advanceTimersByTime(2_000);
  await settle();
  expect(starts.begun).toEqual(["a1", "b1"]);
});

test("all instances of an environment have one owner, and any other instance is its own", () => {
  const environment = "env-a";
  const [web, worker] = [applicationSpec({ environment }), applicationSpec({ environment })];
  expect([web, worker].map(startOwnerOf)).toEqual([environment, environment]);
  const cache = cacheSpec(20_000, "a password", {});
  expect(startOwnerOf(cache)).toBe(cache.id);
});

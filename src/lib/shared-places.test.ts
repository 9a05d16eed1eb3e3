// How tasks of several owners share places.
import { expect, test } from "bun:test";
import { SharedPlaces } from "./shared-places.ts";

/** Tasks that are named after their owners: `x1` and `x2` are of `x`. */
class Tasks {
  readonly begun: string[] = [];
  readonly #places: SharedPlaces;
  readonly #ends = new Map<string, () => void>();

  constructor(count: number, countOfOne: number) {
    this.#places = new SharedPlaces(count, countOfOne);
  }

  async run(name: string, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.set(name, resolve);
    const task = async () => {
      this.begun.push(name);
      await promise;
    };
    await this.#places.run(name.slice(0, 1), task, signal);
  }

  /** Ends a task, and lets what then has a place begin. */
  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("an owner with many tasks leaves a place to the first of another", async () => {
  const tasks = new Tasks(2, 1);
  const all = ["x1", "x2", "x3", "y1"].map(async (name) => await tasks.run(name));
  await tasks.end("");
  expect(tasks.begun).toEqual(["x1", "y1"]);
  for (const name of ["x1", "y1", "x2", "x3"]) await tasks.end(name);
  await Promise.all(all);
  expect(tasks.begun).toEqual(["x1", "y1", "x2", "x3"]);
});

test("owners that wait have their turns, and each its tasks in the order of their coming", async () => {
  const tasks = new Tasks(2, 2);
  const names = ["x1", "x2", "x3", "x4", "y1", "y2", "z1"];
  const all = names.map(async (name) => await tasks.run(name));
  await tasks.end("");
  for (let at = 0; at < names.length; at += 1) await tasks.end(tasks.begun[at] ?? "");
  await Promise.all(all);
  expect(tasks.begun).toEqual(["x1", "x2", "y1", "z1", "x3", "y2", "x4"]);
});

test("a task that is given up while it waits takes no place, and a failed one frees its own", async () => {
  const places = new SharedPlaces(1, 1);
  const { promise, reject } = Promise.withResolvers<void>();
  const first = places.run("x", async () => await promise);
  const given = new AbortController();
  const second = places.run("y", async () => await Promise.reject(new Error("begun")), given.signal);
  const third = places.run("z", async () => await Promise.resolve("done"));
  given.abort(new Error("given up"));
  await expect(second).rejects.toThrow("given up");
  reject(new Error("failed"));
  await expect(first).rejects.toThrow("failed");
  expect(await third).toBe("done");
  await expect(places.run("x", async () => {}, given.signal)).rejects.toThrow("given up");
});

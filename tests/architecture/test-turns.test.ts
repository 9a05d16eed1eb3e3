// The turns of the slow tests: none waits for ever, neither for its turn nor at the end of a run that has no time left.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

interface Jobs {
  /** Divides files over turns; see scripts/test-jobs.mjs. */
  ofThisTurn(files: string[], turns: number, turn: number): { now: string[]; later: string[] };
}

const ROOT = resolve(import.meta.dir, "../..");
const { ofThisTurn } = (await import(join(ROOT, "scripts/test-jobs.mjs"))) as Jobs;
const FILES = readdirSync(join(ROOT, "tests/full"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => join("tests/full", path));
const TURNS = 3;

test("each slow test has its turn, and each turn has some", () => {
  const turns = Array.from({ length: TURNS }, (_, turn) => ofThisTurn(FILES, TURNS, turn));
  expect([...new Set(turns.flatMap(({ now }) => now))].toSorted()).toEqual(FILES.toSorted());
  for (const { now, later } of turns) {
    expect([...now, ...later].toSorted()).toEqual(FILES.toSorted());
    expect(later.length).toBeGreaterThan(0);
  }
});

test("the tests of a turn are not always the last ones of it", () => {
  const early = new Set<string>();
  for (let turn = 0; turn < 12 * TURNS; turn++) {
    const { now } = ofThisTurn(FILES, TURNS, turn);
    for (const file of now.slice(0, -now.length / 4)) early.add(file);
  }
  expect([...early].toSorted()).toEqual(FILES.toSorted());
});

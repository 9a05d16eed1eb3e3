// Departures that are held back, in a bounded number.
import { expect, test } from "bun:test";
import { Departures } from "./departures.ts";
import { ManualClock } from "./test-support.ts";

test("all applications share a bound, above which each reports its own oldest departure early", () => {
  const clock = new ManualClock();
  const inCluster = { count: 0, max: 3 };
  const emitted: string[] = [];
  const emit = (event: string) => void emitted.push(event);
  const [busy, idle] = [1, 2].map(() => new Departures({ clock, holdMs: 3_000, inCluster, emit })) as [
    Departures<string>,
    Departures<string>,
  ];
  idle.leave("a", "idle a");
  for (const key of ["a", "b", "b", "c"]) busy.leave(key, `busy ${key}`);
  expect(emitted).toEqual(["busy a"]);
  expect([busy.takeBack("b"), busy.takeBack("a"), idle.takeBack("a")]).toEqual([
    "busy b",
    undefined,
    "idle a",
  ]);
  expect(inCluster.count).toBe(1);
  for (const key of ["d", "e"]) idle.leave(key, `idle ${key}`);
  expect(emitted).toEqual(["busy a"]);
  clock.advance(3_000);
  idle.leave("f", "idle f");
  idle.flush();
  expect(emitted).toEqual(["busy a", "idle d", "idle e", "busy c", "idle f"]);
  expect(inCluster.count).toBe(0);
});

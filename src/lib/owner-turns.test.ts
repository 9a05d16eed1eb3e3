// Whose work begins next when work of several owners waits.
import { expect, test } from "bun:test";
import { OwnerTurns } from "./owner-turns.ts";

/** Work that waits, named after its owner: `a1` and `a2` are of `a`. */
function work(...names: string[]) {
  return names.map((name) => ({ name, owner: name.slice(0, 1) }));
}

test("the owner with the least under way has the next turn, whatever came first", () => {
  const turns = new OwnerTurns();
  turns.begin("a");
  turns.begin("a");
  const end = turns.begin("b");
  turns.begin("b");
  expect(turns.next(work("a1", "b1", "c1"))?.name).toBe("c1");
  end();
  expect([turns.underWay("a"), turns.underWay("b"), turns.underWay("c")]).toEqual([2, 1, 0]);
  expect(turns.next(work("a1", "b1"))?.name).toBe("b1");
  expect(turns.next([])).toBeUndefined();
});

test("of equal owners the least recently served is next, and of an owner the work that came first", () => {
  const turns = new OwnerTurns();
  const waiting = work("a1", "a2", "a3", "b1", "b2", "c1");
  const order: string[] = [];
  for (let next = turns.next(waiting); next !== undefined; next = turns.next(waiting)) {
    turns.begin(next.owner)();
    waiting.splice(waiting.indexOf(next), 1);
    order.push(next.name);
  }
  expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("an owner that many others have followed is forgotten, and has its turn before them", () => {
  const turns = new OwnerTurns();
  for (let owner = 0; owner < 1_100; owner += 1) turns.remember(`${owner}`);
  const waiting = ["1099", "1", "0"].map((owner) => ({ owner }));
  expect(turns.next(waiting)?.owner).toBe("1");
});

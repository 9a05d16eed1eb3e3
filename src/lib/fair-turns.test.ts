// The order in which the work of several networks, and of several clients of a network, begins.
import { expect, test } from "bun:test";
import { FairTurns } from "./fair-turns.ts";

/** Takes a turn, and notes when its work begins, by its client or else its network. */
function work(turns: FairTurns, network: string, begun: string[], client = ""): void {
  const turn = turns.take(network, client);
  if (turn === null) return void begun.push(client || network);
  void turn.then(() => begun.push(client || network));
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

test("work begins at once as long as it is little, turn by turn", async () => {
  const turns = new FairTurns(2);
  for (let turn = 0; turn < 3; turn += 1) {
    expect([turns.take("one"), turns.take("one")]).toEqual([null, null]);
    await nextTurn();
  }
});

test("a network with much work lets another begin in the next turn", async () => {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  for (let count = 0; count < 100; count += 1) work(turns, "crowd", begun);
  work(turns, "other", begun);
  expect(begun).toEqual(["crowd", "crowd"]);
  await nextTurn();
  expect(begun).toEqual(["crowd", "crowd", "crowd", "other"]);
});

test("a client with much work lets another of its network begin in the next turn", async () => {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  for (let count = 0; count < 100; count += 1) work(turns, "proxy", begun, "crowd");
  work(turns, "proxy", begun, "other");
  await nextTurn();
  expect(begun).toEqual(["crowd", "crowd", "crowd", "other"]);
});

test("a network with many clients takes no turns from another network", async () => {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  for (let count = 0; count < 100; count += 1) work(turns, "crowd", begun, `client ${count}`);
  work(turns, "other", begun, "only");
  await nextTurn();
  expect(begun).toEqual(["client 0", "client 1", "client 2", "only"]);
});

test("all work begins in the end, in the order of each network, and no more in a turn than may", async () => {
  const turns = new FairTurns(3);
  const begun: number[] = [];
  for (let count = 0; count < 50; count += 1) {
    void Promise.resolve(turns.take("crowd")).then(() => begun.push(count));
  }
  let before = 0;
  while (begun.length < 50) {
    await nextTurn();
    expect(begun.length - before).toBeLessThanOrEqual(6);
    before = begun.length;
  }
  expect(begun).toEqual(Array.from({ length: 50 }, (_, index) => index));
});

test("work that arrives while its network waits comes after the work that waits", async () => {
  const turns = new FairTurns(1);
  const begun: string[] = [];
  work(turns, "one", begun);
  work(turns, "one", begun);
  await nextTurn();
  expect(turns.take("one")).not.toBeNull();
});

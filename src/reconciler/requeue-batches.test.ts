// How observations reach the queue: at once, together, in order, and without stopping at an error.
import { expect, test } from "bun:test";
import type { ObservedInstance } from "./queue.ts";
import { RequeueBatches } from "./requeue-batches.ts";

/** Batches whose sending lasts until the test ends it. */
function heldBatches() {
  const sent: ObservedInstance[][] = [];
  const errors: unknown[] = [];
  let ends: PromiseWithResolvers<void>[] = [];
  const batches = new RequeueBatches(
    (batch) => {
      sent.push(batch);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return end.promise;
    },
    (error) => void errors.push(error),
  );
  const settle = async (error?: Error) => {
    const [first, ...rest] = ends;
    ends = rest;
    if (error === undefined) first?.resolve();
    else first?.reject(error);
    await Bun.sleep(0);
  };
  const idsSent = () => sent.map((batch) => batch.map(({ instanceId }) => instanceId));
  const add = (...ids: string[]) => {
    for (const instanceId of ids) batches.add({ instanceId, convergence: "broken" });
  };
  return { add, settle, idsSent, errors };
}

test("the first observation is sent at once, and observations that come meanwhile are sent together", async () => {
  const { add, settle, idsSent } = heldBatches();
  add("a", "b", "c");
  expect(idsSent()).toEqual([["a"]]);
  await settle();
  expect(idsSent()).toEqual([["a"], ["b", "c"]]);
});

test("two observations of an instance are sent in their order, in two batches", async () => {
  const { add, settle, idsSent } = heldBatches();
  add("a", "b", "c", "b", "d");
  await settle();
  await settle();
  expect(idsSent()).toEqual([["a"], ["b", "c"], ["b", "d"]]);
});

test("a batch has a bounded size", async () => {
  const { add, settle, idsSent } = heldBatches();
  add("first", ...Array.from({ length: 2_500 }, (_, index) => `cache-${index}`));
  for (let round = 0; round < 4; round += 1) await settle();
  expect(idsSent().map((ids) => ids.length)).toEqual([1, 1_000, 1_000, 500]);
});

test("an error is reported, and the next batch is sent", async () => {
  const { add, settle, idsSent, errors } = heldBatches();
  add("a", "b");
  await settle(new Error("the store is away"));
  expect(errors).toEqual([new Error("the store is away")]);
  expect(idsSent()).toEqual([["a"], ["b"]]);
  await settle();
  add("c");
  expect(idsSent().at(-1)).toEqual(["c"]);
});

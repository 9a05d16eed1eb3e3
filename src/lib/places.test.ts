// How tasks wait for places, and what an abort changes.
import { expect, test } from "bun:test";
import { Places } from "./places.ts";

test("tasks get the places in the order of their arrival, whatever the tasks before end with", async () => {
  const places = new Places(2);
  const running: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const tasks = ends.map(({ promise }, index) =>
    places.run(async () => {
      running.push(index);
      await promise;
    }),
  );
  await Promise.resolve();
  expect(running).toEqual([0, 1]);
  ends[1]?.reject(new Error("failed"));
  await expect(tasks[1]).rejects.toThrow("failed");
  expect(running).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  await Promise.all([tasks[0], tasks[2], tasks[3]]);
  expect(running).toEqual([0, 1, 2, 3]);
});

test("an aborted wait leaves the line, and takes no place", async () => {
  const places = new Places(1);
  const leave = await places.enter();
  const abort = new AbortController();
  const first = places.enter(abort.signal);
  const second = places.enter();
  abort.abort(new Error("given up"));
  await expect(first).rejects.toThrow("given up");
  leave();
  leave();
  const leaveSecond = await second;
  const third = places.enter(AbortSignal.abort(new Error("too late")));
  await expect(third).rejects.toThrow("too late");
  leaveSecond();
  (await places.enter())();
});

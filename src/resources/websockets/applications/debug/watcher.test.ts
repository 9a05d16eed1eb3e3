// The bound of what waits for one watcher.
import { expect, test } from "bun:test";
import type { Observed } from "./render.ts";
import { Watcher } from "./watcher.ts";

const observed = (socketId: string): Observed => ({
  type: "connected",
  at: "2026-03-15T08:00:00.000Z",
  socketId,
  origin: null,
});

test("a watcher that does not read keeps the first reports, and the number of the others", () => {
  const watcher = new Watcher("org");
  for (let count = 0; count < 250; count += 1) watcher.add(observed(String(count)));
  watcher.add({ type: "omitted", at: "2026-03-15T08:00:01.000Z", count: 7 });
  const taken = watcher.take();
  expect(taken).toHaveLength(201);
  expect(taken[199]).toEqual(observed("199"));
  expect(taken[200]).toMatchObject({ type: "omitted", count: 57 });
  expect([watcher.hasMore, watcher.take()]).toEqual([false, []]);
});

test("a wait ends with a report, and with the stream", async () => {
  const watcher = new Watcher("org");
  const ended = new AbortController();
  const first = watcher.within(60_000, ended.signal);
  watcher.add(observed("1"));
  await first;
  expect(watcher.take()).toEqual([observed("1")]);
  const second = watcher.within(60_000, ended.signal);
  ended.abort();
  await second;
  expect(watcher.take()).toEqual([]);
});

// How long the logs of environments are kept that nothing writes into any more.
import { afterEach, expect, test } from "bun:test";
import { LogsOnDisk } from "./test-support.ts";

const DAY_MS = 86_400_000;

let disk: LogsOnDisk;

afterEach(() => disk.remove());

const request = JSON.stringify({ r: "env-1", s: 200, b: 1, d: 1, i: "127.0.0.1", m: "GET", p: "/", u: "" });

test("the log of an environment that sleeps since before the host was started is deleted by its age", async () => {
  disk = new LogsOnDisk();
  disk.write("said\n");
  disk.logs.request("env-1", request);
  disk.logs.turn();
  disk.restart();
  await disk.logs.tidy(Date.now() + 6 * DAY_MS);
  expect((await disk.messages()).toSorted()).toEqual(["GET / 200", "said"]);
  disk.restart();
  await disk.logs.tidy(Date.now() + 8 * DAY_MS);
  expect(await disk.messages()).toEqual([]);
  disk.restart();
  disk.write("woken\n");
  disk.logs.turn();
  expect(await disk.messages()).toEqual(["woken"]);
});

test("a log that was closed gets no further segment by further restarts", async () => {
  disk = new LogsOnDisk();
  disk.write("said\n");
  disk.logs.turn();
  for (let day = 1; day < 5; day += 1) {
    disk.restart();
    await disk.logs.tidy(Date.now() + day * DAY_MS);
  }
  expect(disk.files()).toEqual([expect.stringMatching(/\.log\.zst$/), expect.stringMatching(/\.log$/)]);
});

test("a round takes up logs up to the size of a segment, and further rounds the others", async () => {
  disk = new LogsOnDisk(4);
  const numbers = [1, 2, 3, 4];
  for (let turn = 0; turn < 14; turn += 1) {
    for (const number of numbers) disk.write(`${"x".repeat(7_999)}\n`.repeat(32), number);
    disk.logs.turn();
  }
  disk.restart();
  const closed = () => numbers.filter((number) => disk.files(number).length > 1).length;
  const counts: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    await disk.logs.tidy(Date.now() + DAY_MS);
    counts.push(closed());
  }
  expect(counts).toEqual([3, 4, 4]);
});

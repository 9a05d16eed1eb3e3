// The times of a log whose host had a wrong clock for a while.
import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { LogsOnDisk } from "./test-support.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 4, 4, 10);

let disk: LogsOnDisk;

beforeEach(() => {
  disk = new LogsOnDisk();
});

afterEach(() => {
  setSystemTime();
  disk.remove();
});

/** Has a line read, and a request made, at a time. */
function say(line: string, atMs: number): void {
  setSystemTime(new Date(atMs));
  disk.write(`${line}\n`);
  const request = { r: "env-1", s: 200, b: 1, d: 1, i: "127.0.0.1", m: "GET", p: `/${line}`, u: "" };
  disk.logs.request("env-1", JSON.stringify(request));
  disk.logs.turn();
}

/** Lines and requests in their order. */
async function said(query: { fromMs?: number; toMs?: number; tail?: number } = {}): Promise<string[]> {
  return (await disk.messages(query)).map((message) => /^GET \/(\S+) 200$/.exec(message)?.[1] ?? message);
}

/** Each line with its request. */
const twice = (...lines: string[]) => lines.flatMap((line) => [line, line]);

test("a clock that was ahead for a moment leaves wrong times to the entries of that moment alone", async () => {
  say("before", START_MS);
  say("ahead", START_MS + DAY_MS);
  say("after", START_MS + 1_000);
  disk.restart();
  say("restarted", START_MS + 2_000);
  const entries = await disk.entries({ types: ["application"] });
  expect(entries.map(({ message, at }) => [message, Date.parse(at)])).toEqual([
    ["before", START_MS],
    ["ahead", START_MS + DAY_MS],
    ["after", START_MS + 1_000],
    ["restarted", START_MS + 2_000],
  ]);
  expect(await said({ fromMs: START_MS, toMs: START_MS + HOUR_MS })).toEqual(
    twice("before", "after", "restarted"),
  );
  expect(await said({ fromMs: START_MS + 1_500, toMs: START_MS + HOUR_MS })).toEqual(twice("restarted"));
  expect(await said({ fromMs: START_MS + HOUR_MS })).toEqual(twice("ahead"));
  expect(await said({ tail: 2 })).toEqual(twice("restarted"));
  for (const query of [{}, { tail: 8 }]) {
    const all = await said(query);
    expect([...all.slice(0, 2), ...all.slice(-2)]).toEqual(twice("before", "restarted"));
    expect(all.slice(2, -2).toSorted()).toEqual(twice("after", "ahead"));
  }
});

test("a clock that is set back by some seconds begins no segment, and leaves the order", async () => {
  say("first", START_MS);
  say("second", START_MS - 30_000);
  const entries = await disk.entries({ types: ["application"] });
  expect(entries.map(({ at }) => Date.parse(at))).toEqual([START_MS, START_MS]);
  expect(disk.files()).toHaveLength(2);
});

test("entries that a clock ahead has dated into the next year are deleted by their age", async () => {
  say("before", START_MS);
  say("ahead", START_MS + 365 * DAY_MS);
  setSystemTime(new Date(START_MS));
  await disk.logs.tidy();
  for (let day = 1; day <= 6; day += 1) {
    say(`day-${day}`, START_MS + day * DAY_MS);
    await disk.logs.tidy();
  }
  expect((await said()).slice(0, 4).toSorted()).toEqual(twice("ahead", "before"));
  await disk.logs.tidy(START_MS + 8 * DAY_MS);
  const left = await said();
  expect([left.includes("ahead"), left.includes("before"), left.includes("day-6")]).toEqual([
    false,
    false,
    true,
  ]);
});

test("a clock that was behind deletes nothing, and what was before is found by its times", async () => {
  say("before", START_MS);
  say("behind", 5_000);
  say("after", START_MS + HOUR_MS);
  await disk.logs.tidy();
  disk.restart();
  await disk.logs.tidy();
  expect(await said({ fromMs: START_MS - 1, toMs: START_MS + 1 })).toEqual(twice("before"));
  expect(await said({ fromMs: START_MS + 1 })).toEqual(twice("after"));
  expect((await said()).toSorted()).toEqual(twice("after", "before", "behind"));
});

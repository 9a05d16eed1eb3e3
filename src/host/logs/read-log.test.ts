// Logs of engines: read by position, time and text, while they grow, and after their beginning was freed.
import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_MESSAGE_CHARACTERS, type LogQuery, type LogSlice } from "../../contracts/logs.ts";
import { readLogLine } from "../../engines/postgres/log-line.ts";
import { boundLog, KEPT_BYTES, openLog } from "../os/engine-log.ts";
import { readLog } from "./read-log.ts";

const folder = mkdtempSync(join(tmpdir(), "pilvi-logs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const never = new AbortController().signal;
let count = 0;
const newPath = () => join(folder, `${count++}.log`);

/** A line at a second of one day. */
function lineAt(second: number, text: string, severity = "LOG"): string {
  const time = new Date(Date.UTC(2026, 2, 15) + second * 1000).toISOString();
  return `${time.slice(0, 10)} ${time.slice(11, 23)} UTC [7] ${severity}:  ${text}\n`;
}

const read = (path: string, query: Partial<LogQuery> = {}) =>
  readLog(path, readLogLine, { limit: 1_000, ...query }, never);

/** All slices after a position. */
async function readAll(path: string, query: Partial<LogQuery> = {}): Promise<LogSlice["lines"]> {
  const lines: LogSlice["lines"] = [];
  for (let cursor = query.cursor; ;) {
    const slice = await read(path, { ...query, ...(cursor !== undefined && { cursor }) });
    lines.push(...slice.lines);
    cursor = slice.next;
    if (slice.isEnd) return lines;
  }
}

const messagesOf = (lines: LogSlice["lines"]) => lines.map(({ message }) => message.replace(/^\[7\] /, ""));

test("a log is read in slices without a hole or a repetition, whatever their size", async () => {
  const path = newPath();
  const wanted = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${"ä".repeat(index % 90)}`);
  writeFileSync(path, wanted.map((text, index) => lineAt(index, text)).join(""));
  for (const limit of [7, 1_000]) {
    const lines = await readAll(path, { limit });
    expect(messagesOf(lines)).toEqual(wanted.map((text) => `LOG:  ${text}`));
    expect(lines[3]?.at).toBe("2026-03-15T00:00:03.000Z");
  }
});

test("the cursor of each line leads to the line after it", async () => {
  const path = newPath();
  writeFileSync(path, Array.from({ length: 20 }, (_, index) => lineAt(index, String(index))).join(""));
  const { lines } = await read(path);
  for (const [index, { cursor }] of lines.entries())
    expect((await read(path, { cursor })).lines).toEqual(lines.slice(index + 1));
});

test("a line without a time has that of the line before, also in the next slice", async () => {
  const path = newPath();
  writeFileSync(path, `${lineAt(5, "select\n\t1", "ERROR")}\t2\n`);
  const [first] = (await read(path, { limit: 1 })).lines;
  const rest = await read(path, { cursor: first?.cursor ?? "" });
  expect(first).toMatchObject({ level: "error", message: "[7] ERROR:  select" });
  expect(rest.lines.map(({ at, message }) => [at, message])).toEqual([
    ["2026-03-15T00:00:05.000Z", "\t1"],
    ["2026-03-15T00:00:05.000Z", "\t2"],
  ]);
});

test("lines are found by their time, and by their text in whatever case", async () => {
  const path = newPath();
  writeFileSync(
    path,
    Array.from({ length: 20_000 }, (_, index) => lineAt(index, `Number ${index}.`)).join(""),
  );
  const [fromMs, toMs] = [Date.UTC(2026, 2, 15, 3), Date.UTC(2026, 2, 15, 3, 0, 3)];
  expect(messagesOf(await readAll(path, { fromMs, toMs }))).toEqual(
    [10_800, 10_801, 10_802].map((each) => `LOG:  Number ${each}.`),
  );
  expect(messagesOf(await readAll(path, { text: "NUMBER 1999." }))).toEqual(["LOG:  Number 1999."]);
  expect(messagesOf(await readAll(path, { tail: 2 }))).toEqual([
    "LOG:  Number 19998.",
    "LOG:  Number 19999.",
  ]);
  expect(await readAll(path, { tail: 0 })).toEqual([]);
});

test("a line longer than a slice is cut, and lines after it are read", async () => {
  const path = newPath();
  writeFileSync(path, `${lineAt(1, "x".repeat(300_000))}${lineAt(2, "after")}`);
  const lines = await readAll(path);
  expect(lines.every(({ message }) => message.length <= MAX_MESSAGE_CHARACTERS)).toBe(true);
  expect(messagesOf(lines.slice(-1))).toEqual(["LOG:  after"]);
});

test("bytes that are no text, and a line that is not complete, do no harm", async () => {
  const path = newPath();
  writeFileSync(path, Buffer.from([0, 255, 10, 13, 10, 195]));
  const first = await read(path);
  expect(first.lines).toHaveLength(2);
  appendFileSync(path, Buffer.from([164, 10]));
  expect((await read(path, { cursor: first.next })).lines.map(({ message }) => message)).toEqual(["ä"]);
});

test("a reader that waits gets a line when it is written", async () => {
  const path = newPath();
  const waiting = read(path, { waitMs: 20_000 });
  writeFileSync(path, lineAt(1, "first"));
  const { lines, next } = await waiting;
  expect(messagesOf(lines)).toEqual(["LOG:  first"]);
  const later = read(path, { cursor: next, waitMs: 20_000, text: "third" });
  appendFileSync(path, lineAt(2, "second"));
  appendFileSync(path, lineAt(3, "third"));
  expect(messagesOf((await later).lines)).toEqual(["LOG:  third"]);
});

test("verifiers of passwords are not shown", async () => {
  const path = newPath();
  const native = `*${"A1".repeat(20)}`;
  writeFileSync(path, lineAt(1, `Failed: alter role app password 'SCRAM-SHA-256$4096:a$b:c'; ${native}`));
  const [line] = (await read(path)).lines;
  expect(line?.message).not.toContain("4096");
  expect(line?.message).not.toContain(native);
});

/** Appends more than is kept, as an engine does. */
function fill(path: string, fd: number): void {
  const block = Array.from({ length: 1_000 }, () => lineAt(1, "y".repeat(1_000))).join("");
  for (let bytes = 0; bytes < KEPT_BYTES * 1.5; bytes += block.length) appendFileSync(fd, block);
  appendFileSync(path, lineAt(2, "the latest"));
}

test("the beginning of a log is freed while positions and writers stay", async () => {
  const path = newPath();
  const { fd } = openLog(path, "postgres 18 starts");
  const early = await read(path);
  expect(early.lines.map(({ message, isNote }) => [message, isNote])).toEqual([["postgres 18 starts", true]]);
  fill(path, fd);
  const { next: late } = await read(path, { tail: 1 });
  const { size } = statSync(path);
  await boundLog(path);
  expect(statSync(path).size).toBe(size);
  expect(statSync(path).blocks * 512).toBeLessThan(KEPT_BYTES + 64 * 1024);
  appendFileSync(fd, lineAt(3, "after"));
  expect(messagesOf((await read(path, { cursor: late })).lines)).toEqual(["LOG:  after"]);
  const gap = await read(path, { cursor: early.next });
  expect(gap.hasGap).toBe(true);
  const lines = await readAll(path);
  expect(new Set(messagesOf(lines.slice(0, -2)))).toEqual(new Set([`LOG:  ${"y".repeat(1_000)}`]));
  expect(messagesOf(lines.slice(-2))).toEqual(["LOG:  the latest", "LOG:  after"]);
  closeSync(fd);
});

test("where a file system cannot free a part of a file, a position is known to be lost", async () => {
  const path = newPath();
  const { fd } = openLog(path, "starts");
  fill(path, fd);
  const { next } = await read(path, { tail: 1 });
  await boundLog(path, false);
  appendFileSync(fd, lineAt(3, "after"));
  const slice = await read(path, { cursor: next });
  expect([slice.hasGap, messagesOf(slice.lines)]).toEqual([true, ["LOG:  after"]]);
  closeSync(fd);
});

test("a log that its program has stretched between its lines is bounded too", async () => {
  const path = newPath();
  const { fd } = openLog(path, "starts");
  for (let stretches = 0; stretches < 4; stretches += 1) {
    appendFileSync(fd, "x".repeat(8 * 1024 ** 2));
    ftruncateSync(fd, statSync(path).size + 64 * 1024 ** 3);
  }
  await boundLog(path);
  expect(statSync(path).blocks * 512).toBeLessThan(KEPT_BYTES + 64 * 1024);
  appendFileSync(fd, lineAt(3, "after"));
  expect(messagesOf((await read(path, { tail: 1 })).lines)).toEqual(["LOG:  after"]);
  closeSync(fd);
});

test("each start appends to the log, and begins with a line of its own", () => {
  const path = newPath();
  writeFileSync(`${path}.1`, "of an earlier release");
  const first = openLog(path, "starts");
  appendFileSync(first.fd, "cut off");
  const second = openLog(path, "starts");
  expect(readFileSync(path, "utf8")).toMatch(
    /^# pilvi log [0-9a-f]{12}\n# pilvi \S+Z starts\ncut off\n# pilvi \S+Z starts\n$/,
  );
  expect(readFileSync(path, "utf8").slice(0, second.startsAt)).toEndWith("cut off");
  expect(() => statSync(`${path}.1`)).toThrow("ENOENT");
  for (const { fd } of [first, second]) closeSync(fd);
});

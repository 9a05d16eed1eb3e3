// How much of the output of a process is read at once, and that nothing of usual output is lost by that.
import { afterEach, expect, test } from "bun:test";
import { LogsOnDisk } from "./test-support.ts";

const KIB = 1024;

let disk: LogsOnDisk;

afterEach(() => disk.remove());

/** Lines with numbers. */
function numbered(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, index) => `line ${first + index}`);
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Has each entry take a millisecond. */
function letTimePass(): void {
  let workedMs = 0;
  disk.workedMs = () => (workedMs += 1);
}

/** An error with a trace that goes on over several entries. */
function longTrace(lines: number): string[] {
  return ["TypeError: no basket", ...numbered(lines).map((line) => `    at ${line} (/app/pay.js:3:9)`)];
}

test("short lines are read over several turns, each once, also when the host is restarted between them", async () => {
  disk = new LogsOnDisk();
  disk.write(text(numbered(5_000)));
  disk.logs.turn();
  const first = await disk.messages();
  expect(first.length).toBeLessThanOrEqual(2_000);
  disk.restart();
  for (let turn = 0; turn < 6; turn += 1) disk.logs.turn();
  expect(await disk.messages()).toEqual(numbered(5_000));
});

test("a burst of 1,000 short lines is read in a turn", async () => {
  disk = new LogsOnDisk();
  disk.write(text(numbered(1_000)));
  disk.logs.turn();
  expect(await disk.messages()).toEqual(numbered(1_000));
});

test("a trace at the end of what a turn reads stays one entry", async () => {
  disk = new LogsOnDisk();
  disk.write(text([...numbered(1_990).map(() => ""), ...longTrace(100), "after"]));
  disk.logs.turn();
  disk.logs.turn();
  disk.logs.turn();
  const [fault, after] = await disk.entries();
  expect(fault).toMatchObject({ type: "exception", message: "no basket" });
  expect(fault?.data?.["trace"]).toHaveLength(100);
  expect(after?.message).toBe("after");
});

test("a turn writes a bounded number of bytes, even when escapes make the entries longer than the output", async () => {
  disk = new LogsOnDisk();
  disk.write(`${"\u0001".repeat(8_000)}\n`.repeat(100));
  disk.logs.turn();
  expect(disk.bytes()).toBeLessThan(600 * KIB);
  for (let turn = 0; turn < 20; turn += 1) disk.logs.turn();
  expect(await disk.messages()).toHaveLength(100);
});

test("processes with a flood of short lines share the bytes of a turn, and each has its own", async () => {
  disk = new LogsOnDisk(30);
  for (let number = 1; number <= 30; number += 1)
    disk.write(text(["a".repeat(20), ...numbered(5_000)]), number);
  const written = () => disk.processes.reduce((sum, _, index) => sum + disk.bytes(index + 1), 0);
  disk.logs.turn();
  expect(written()).toBeLessThan(3 * KIB ** 2);
  for (let turn = 1; turn < 8; turn += 1) disk.logs.turn();
  const lengths = await Promise.all(disk.processes.map(async (_, index) => disk.files(index + 1).length));
  expect(lengths).toEqual(lengths.map(() => 1));
});

test("blank lines, of which nothing is written, take bytes of a turn as well", async () => {
  disk = new LogsOnDisk(30);
  for (let number = 1; number <= 30; number += 1) disk.write(`${"\n".repeat(1_900)}said\n`, number);
  disk.logs.turn();
  const read = disk.processes.filter((_, index) => disk.files(index + 1).length > 0);
  expect(read.length).toBeLessThan(15);
});

test("a process that ends after a few thousand lines and a long trace has all of it in the log", async () => {
  disk = new LogsOnDisk();
  disk.write(text([...numbered(5_000), ...longTrace(450)]));
  disk.logs.happened("proc-1", "crashed", {});
  const entries = await disk.entries();
  const [end, ...others] = entries.toReversed();
  expect(end?.message).toBe("The process ended by itself.");
  expect(entries.slice(0, 5_000).map(({ message }) => message)).toEqual(numbered(5_000));
  expect(JSON.stringify(others.slice(0, 300))).toContain("at line 449 (/app/pay.js");
});

test("of a flood at the end of a process the first and the last lines are kept, and the log says what is missing", async () => {
  disk = new LogsOnDisk();
  disk.write(text([...numbered(100_000), "last words"]) + "without an end");
  disk.logs.happened("proc-1", "crashed", {});
  expect(disk.bytes()).toBeLessThan(2 * KIB ** 2);
  disk.restart();
  disk.logs.turn();
  const messages = await disk.messages();
  expect(messages[0]).toBe("line 0");
  expect(messages.slice(-3)).toEqual(["last words", "without an end", "The process ended by itself."]);
  const [missing = "", ...others] = messages.filter((message) =>
    message.includes("bytes of output are missing"),
  );
  expect(others).toEqual([]);
  const at = messages.indexOf(missing);
  const [before, after] = [messages.slice(0, at), messages.slice(at + 1, -3)];
  expect(before).toEqual(numbered(before.length));
  expect(after).toEqual(numbered(after.length, 100_000 - after.length));
  const left = text(numbered(100_000 - before.length - after.length, before.length)).length;
  expect(Number.parseInt(missing, 10)).toBe(left);
  expect(after.length).toBeGreaterThan(1_000);
});

test("a flood does not exceed the bound of its log until the logs are tidied", () => {
  disk = new LogsOnDisk();
  disk.restart({ days: 7, bytes: KIB ** 2 });
  const lines = `${"x".repeat(4_000)}\n`.repeat(60);
  for (let turn = 0; turn < 120; turn += 1) {
    disk.write(lines);
    disk.logs.turn();
  }
  expect(disk.bytes()).toBeLessThan(17 * KIB ** 2);
});

test("a turn ends early when processes are loud; later turns read the rest once, and others meanwhile", async () => {
  disk = new LogsOnDisk(9);
  letTimePass();
  const loud = disk.processes.slice(0, 8);
  for (const [index, process] of loud.entries()) {
    process.environment = "env-1";
    disk.write(text([...numbered(100), ...longTrace(20), "after"]), index + 1);
  }
  const said: string[] = [];
  for (let left = true; left && said.length < 500;) {
    said.push(`turn ${said.length}`);
    disk.write(`${said.at(-1)}\n`, 9);
    disk.logs.turn();
    expect(await disk.messages({}, 9)).toEqual(said);
    left = (await disk.entries()).length < 8 * 102;
  }
  expect(said.length).toBeGreaterThan(10);
  for (const { id } of loud)
    expect(await disk.messages({ instances: [id] })).toEqual([...numbered(100), "no basket", "after"]);
});

test("a trace that comes while its exception is read again and again stays one entry", async () => {
  disk = new LogsOnDisk();
  letTimePass();
  disk.write(text([...numbered(50), ...longTrace(5)]));
  for (let turn = 0; (await disk.messages()).length < 50; turn += 1) {
    expect(turn).toBeLessThan(50);
    disk.logs.turn();
  }
  disk.write(text(["    at last (/app/pay.js:4:9)", "after"]));
  disk.logs.turn();
  const [fault, after] = (await disk.entries()).slice(50);
  expect(fault?.data?.["trace"]).toHaveLength(6);
  expect(after?.message).toBe("after");
});

test("at the ends of loud processes the first and the last lines are read, with little time for all of them", async () => {
  disk = new LogsOnDisk(3);
  letTimePass();
  for (const number of [1, 2, 3]) {
    disk.write(text([...numbered(4_000), "last words"]), number);
    disk.logs.happened(`proc-${number}`, "crashed", {});
  }
  const all = await Promise.all([1, 2, 3].map(async (number) => await disk.messages({}, number)));
  for (const messages of all)
    expect(messages.slice(-2)).toEqual(["last words", "The process ended by itself."]);
  const before = all.map((messages) =>
    messages.findIndex((each) => each.includes("bytes of output are missing")),
  );
  expect(before[0]).toBeGreaterThan(10);
  expect(before.slice(1)).toEqual([0, 0]);
});
